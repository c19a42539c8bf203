import assert from "node:assert/strict";
import {
  amendCheckin,
  type Amendment,
  type Branch,
  decodeUtf8,
  encodeUtf8,
  listBranches,
  listDivergedBranches,
  listTickets,
  readActivity,
  readBlame,
  readCheckin,
  Reader,
  readHistory,
  readTimeline,
  readTree,
  Repository,
  SearchIndex,
  writeMerge,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture, put, refuses } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import { exported } from "./support/git.ts";
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

Deno.test("a listing follows what is amended about its check-ins", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const told = (reader: Reader) => [
    readTree(reader),
    readTree(reader, { recursive: true }),
    readHistory(reader, { path: "a.txt" }),
  ];
  const assertSame = () => assert.deepEqual(told(reader), told(new Reader(repository)));
  const first = fixture.commit([put("a.txt", "1\n"), put("d/b.txt", "b\n")]);
  fixture.commit([put("a.txt", "2\n")]);
  const third = fixture.commit([put("a.txt", "1\n")]);
  assertSame();
  const amend = (checkin: string, amendment: Partial<Amendment>) =>
    amendCheckin(repository, { ...fixture.author(), checkin, ...amendment });
  amend(first, { comment: "another comment", newUser: "carol" });
  assertSame();
  amend(first, { comment: "yet another" });
  fixture.commit([put("c.txt", "c\n")]);
  assertSame();
  amend(third, { newDate: History.start });
  assertSame();
});

/** Enough files for check-ins that amend a baseline. */
const LARGE = Array.from({ length: 300 }, (_, i) => put(`d${i % 7}/f${i}`, `${i}\n`));

for (
  const [what, changes] of [
    ["takes away", [{ kind: "delete", path: "new" }]],
    ["moves", [{ kind: "move", from: "new", path: "d1/newer" }]],
  ] as const
) {
  Deno.test(`a reader notices a check-in that ${what} what its parent added`, () => {
    using fixture = new Fixture();
    const { repository } = fixture;
    const reader = new Reader(repository);
    const index = SearchIndex.inMemory(reader);
    const told = (reader: Reader) => [readTree(reader), readTree(reader, { recursive: true })];
    const found = () => index.search({ query: "word", kinds: ["code"] }).total;
    fixture.commit(LARGE);
    fixture.commit([put("new", "word\n")]);
    told(reader);
    assert.equal(found(), 1);
    const checkin = fixture.commit(changes);
    assert.deepEqual(told(reader), told(new Reader(repository)));
    assert.equal(found(), what === "moves" ? 1 : 0);
    assert.equal(readCheckin(reader, checkin).files_changed.length, 1);
    assert.equal(
      readHistory(reader, { path: "new", everywhere: true }).total > 1,
      what !== "moves",
    );
    fixture.assertSound();
  });
}

Deno.test("a reader notices what the program's delta manifests take away without a word", () => {
  using fixture = new Fixture();
  const { repository, scratch } = fixture;
  const reader = new Reader(repository);
  const told = (reader: Reader) => readTree(reader, { recursive: true, withoutLastCheckin: true });
  fixture.commit(LARGE);
  const checkout = scratch.path("checkout");
  Deno.mkdirSync(checkout);
  scratch.fossil(["open", fixture.path], checkout);
  const commit = (...steps: readonly (readonly string[])[]) => {
    for (const step of steps) scratch.fossil(step, checkout);
    scratch.fossil(["commit", "-m", "by fossil", "--delta", "--no-warnings"], checkout);
  };
  Deno.writeTextFileSync(`${checkout}/new`, "word\n");
  commit(["add", "new"]);
  told(reader);
  commit(["rm", "--hard", "new"]);
  // The program has written: what the reader knows is read again, and grows from here.
  using other = Repository.open(fixture.path);
  const late = new Reader(other);
  const [before, tip] = ["prev", "current"];
  told(late);
  assert.deepEqual(
    readTree(late, { checkin: before, recursive: true }).entries.length,
    LARGE.length + 1,
  );
  assert.equal(readTree(late, { checkin: tip, recursive: true }).entries.length, LARGE.length);
  assert.deepEqual(
    readCheckin(late, tip).files_changed.map(({ name, change_type }) => [name, change_type]),
    [["new", "deleted"]],
  );
  assert.deepEqual(told(reader), told(late));
  assert.match(decodeUtf8(exported(other)), /^D new$/m);
});

Deno.test("a check-in that has a file again which its parent took away says so once", () => {
  using fixture = new Fixture();
  const reader = new Reader(fixture.repository);
  fixture.commit(LARGE);
  fixture.commit([{ kind: "delete", path: "d0/f0" }]);
  const again = fixture.commit([put("d0/f0", "again\n")]);
  assert.equal(readCheckin(reader, again).files_changed.length, 1);
  assert.equal(readTimeline(reader, { path: "d0/f0" }).total, 3);
  fixture.assertSound();
});

Deno.test("a reader notices new parents of a check-in that amends another baseline", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const told = (reader: Reader, checkin: string) => readTree(reader, { checkin, recursive: true });
  const first = fixture.commit(LARGE);
  const ours = fixture.commit([put("d0/f0", "ours\n")], { parent: first });
  const theirs = fixture.commit([put("d1/f1", "theirs\n"), put("theirs", "t\n")], {
    parent: first,
    checksum: true,
    allowFork: true,
  });
  const full = fixture.commit(
    LARGE.slice(0, 100).map((change) => ({ ...change, content: encodeUtf8("full\n") })),
    { parent: theirs },
  );
  amendCheckin(repository, { ...fixture.author(), checkin: ours, parents: [full] });
  told(reader, full);
  assert.deepEqual(told(reader, ours), told(new Reader(repository), ours));
  const shown = (reader: Reader) => readCheckin(reader, ours).files_changed;
  assert.equal(shown(reader).length, 101);
});

Deno.test("a listing gets the sizes of files that arrive after a check-in without its parent", () => {
  using source = new Fixture();
  source.commit([put("a.txt", "1\n")]);
  const checkin = source.commit([put("a.txt", "2\n"), put("b.txt", "b\n")]);
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const sizes = () => readTree(reader, { checkin }).entries.map(({ size }) => size);
  const receive = (hash: string) => {
    const { store } = source.repository;
    const content = source.repository.read(() => store.require(store.ridOf(hash)));
    repository.write(ALICE, () => repository.receive(content, { hash }));
  };
  receive(checkin);
  assert.deepEqual(sizes(), [null, null]);
  for (const { uuid } of readTree(new Reader(source.repository)).entries) receive(uuid ?? "");
  assert.deepEqual(sizes(), [2, 2]);
});

Deno.test("a read that fails makes nothing to be computed anew", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  fixture.commit([put("a.txt", "1\n")]);
  const value = () =>
    reader.read(() => reader.lasting("a value", () => ({ value: {}, bytes: 10 }), (it) => it));
  const first = value();
  refuses("missing", () => readTree(reader, { path: "nowhere" }));
  fixture.commit([put("a.txt", "2\n")]);
  assert.equal(value(), first);
});
