import assert from "node:assert/strict";
import {
  amendCheckin,
  type Branch,
  listBranches,
  listDivergedBranches,
  listTickets,
  readActivity,
  readBlame,
  Reader,
  readHistory,
  readTimeline,
  readTree,
  Repository,
  writeMerge,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture, put } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import { History } from "./support/history.ts";
import { Random } from "./support/random.ts";
import { THOROUGH } from "../../../support/level.ts";

const ALICE = { user: "alice", ip: null } as const;

/** What a reader says of the newest check-ins: everything that is computed from all of history. */
function told(reader: Reader): unknown {
  const branches = listDivergedBranches(reader).slice(0, 4).map((branch) => {
    const { checkin, entries } = readTree(reader, { checkin: branch.last_uuid, recursive: true });
    const [path = ""] = entries.map(({ name }) => name).filter((name) => name.endsWith(".txt"));
    const options = { checkin, path };
    return [
      branch,
      entries,
      readTree(reader, { checkin }),
      readTree(reader, { checkin, withoutLastCheckin: true }),
      entries.some(({ name }) => name.startsWith("src/")) &&
      readTree(reader, { checkin, path: "src" }),
      readTimeline(reader, { branch: branch.name, limit: 100 }),
      path && readHistory(reader, options),
      path && readBlame(reader, options),
    ];
  });
  const users = readTimeline(reader, { user: "alice", limit: 100 });
  const activity = readActivity(reader, { kinds: ["wiki", "ticket"], user: "alice" });
  return [branches, byName(listBranches(reader)), users, activity, listTickets(reader)];
}

/** Branches whose newest check-ins have the same time are in no order. */
function byName(branches: readonly Branch[]): readonly Branch[] {
  return branches.toSorted((left, right) => left.name < right.name ? -1 : 1);
}

function assertCurrent(reader: Reader): void {
  assert.deepEqual(told(reader), told(new Reader(reader.repository)));
}

/** Runs work with a repository that has a random history, and its reader. */
function withHistory(seed: number, work: (repository: Repository, reader: Reader) => void): void {
  using scratch = new Scratch();
  const path = scratch.path("history.fossil");
  using repository = Repository.create(path, { admin: "alice", date: History.start });
  const reader = new Reader(repository);
  new History(repository, seed).run(80, () => assertCurrent(reader));
  work(repository, reader);
}

Deno.test(
  "a reader that brings its graph up to date says what a new one says, after each write",
  THOROUGH,
  () => {
    for (const seed of [1, 2]) withHistory(seed, () => {});
  },
);

Deno.test("a reader notices artifacts that arrive in any order, and a rebuild", THOROUGH, () => {
  withHistory(3, (source) => {
    using scratch = new Scratch();
    const path = scratch.path("received.fossil");
    using repository = Repository.create(path, { admin: "alice", date: History.start });
    const reader = new Reader(repository);
    const hashes = source.db.rows<{ uuid: string }>("SELECT uuid FROM blob WHERE size>=0");
    for (const { uuid: hash } of new Random(3).shuffle(hashes)) {
      const content = source.read(() => source.store.require(source.ridOf(hash)));
      repository.write(ALICE, () => repository.receive(content, { hash }));
      // Branches whose files are still missing cannot be read.
      assert.deepEqual(listDivergedBranches(reader), listDivergedBranches(new Reader(repository)));
    }
    assertCurrent(reader);
    repository.rebuild();
    assertCurrent(reader);
  });
});

Deno.test("a reader notices new parents, and writes that are undone", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const [first, second, third] = ["1", "2", "3"].map((text) =>
    fixture.commit([put("a.txt", `same\n${text}\n`)])
  );
  const blamed = () => {
    assertCurrent(reader);
    return readBlame(reader, { path: "a.txt" }).lines.map(({ uuid }) => uuid);
  };
  assert.deepEqual(blamed(), [first, third]);
  amendCheckin(repository, { ...fixture.author(), checkin: third ?? "", parents: [first ?? ""] });
  assert.deepEqual(blamed(), [first, third]);
  assert.throws(() =>
    repository.write(ALICE, () => {
      fixture.commit([put("a.txt", "undone\n")], { parent: third ?? "" });
      assert.equal(blamed().length, 1);
      throw new Error("undone");
    }), /undone/);
  assert.deepEqual(blamed(), [first, third]);
  const lastChange = (checkin = "") =>
    readTree(reader, { checkin }).entries.map(({ last_checkin }) => last_checkin?.uuid);
  assert.deepEqual(lastChange(second), [second]);
  const again = fixture.commit([put("a.txt", "same\n2\n")], { parent: third ?? "" });
  assert.deepEqual(lastChange(again), [again]);
  assert.deepEqual(lastChange(second), [second]);
});

Deno.test("a listing that follows the check-ins says what a new one says", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const random = new Random(7);
  const paths = Array.from({ length: 300 }, (_, i) => `d${i % 3}/e${i % 11}/f${i}.txt`);
  let tip = fixture.commit(paths.map((path) => put(path, path)));
  const told = (reader: Reader, checkin: string) =>
    ["", "d1", "d1/e4"].flatMap((path) =>
      [true, false].flatMap((recursive) =>
        [true, false].map((withoutLastCheckin) =>
          readTree(reader, { checkin, path, recursive, withoutLastCheckin })
        )
      )
    );
  let kept = new Set(paths);
  for (let step = 0; step < 40; step++) {
    const [one = "", other = ""] = random.shuffle([...kept]);
    const name = `d1/e4/${step}.txt`;
    const changes = random.pick([
      () => [put(one, `${step}`), put(other, `${step}`)],
      () => [{ kind: "delete" as const, path: one }],
      () => [{ kind: "move" as const, from: one, path: name }],
      () => [{ kind: "mode" as const, path: one, mode: "executable" as const }],
      () => [put(name, "new"), { kind: "delete" as const, path: one }],
    ])();
    const branch = step % 8 === 3 ? `b${step}` : undefined;
    const next = fixture.commit(changes, {
      parent: tip,
      allowEmpty: true,
      ...branch === undefined ? {} : { branch },
    });
    if (step % 5 === 4) {
      const aside = fixture.commit([put(`d2/aside${step}.txt`, "aside")], {
        parent: tip,
        allowFork: true,
      });
      const merge = { ...fixture.author(), ours: next, theirs: aside, allowFork: true };
      tip = writeMerge(repository, merge).checkin ?? next;
    } else tip = next;
    assert.deepEqual(told(reader, tip), told(new Reader(repository), tip));
    kept = new Set(
      readTree(reader, { checkin: tip, recursive: true }).entries.map(({ name }) => name),
    );
  }
});
