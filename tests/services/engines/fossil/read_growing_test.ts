import assert from "node:assert/strict";
import {
  amendCheckin,
  listDivergedBranches,
  readBlame,
  Reader,
  readHistory,
  readTree,
  Repository,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture, put } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import { History } from "./support/history.ts";
import { Random } from "./support/random.ts";
import { THOROUGH } from "../../../support/level.ts";

const ALICE = { user: "alice", ip: null } as const;

/** What a reader says of the newest check-ins: everything that is computed from all of history. */
function told(reader: Reader): unknown {
  return listDivergedBranches(reader).slice(0, 4).map((branch) => {
    const { checkin, entries } = readTree(reader, { checkin: branch.last_uuid, recursive: true });
    const [path = ""] = entries.map(({ name }) => name).filter((name) => name.endsWith(".txt"));
    const options = { checkin, path };
    return [
      branch,
      entries,
      path && readHistory(reader, options),
      path && readBlame(reader, options),
    ];
  });
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
