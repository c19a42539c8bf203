import assert from "node:assert/strict";
import {
  amendCheckin,
  encodeUtf8,
  type FileChange,
  filesOf,
  formatArtifact,
  moveToBranch,
  placeCheckin,
  readCheckin,
  Reader,
  writeBranch,
  writeClusters,
  writeMerge,
  writeTags,
} from "../../../../services/engines/fossil/mod.ts";
import { judged } from "./support/judges.ts";
import { Fixture, put, refuses } from "./support/fixture.ts";
import { dumpTables } from "./support/tables.ts";

judged(
  "fossil checks out what writeCheckin() wrote, and each can commit on top of the other",
  (program) => {
    using fixture = new Fixture(program);
    const { scratch } = fixture;
    fixture.commit([
      put("README.md", "hello\n"),
      put("run.sh", "#!/bin/sh\n", "executable"),
      put("dir with space/ü 😀.txt", "text\n"),
      put("empty", ""),
      put("gone", "x"),
    ]);
    fixture.commit([
      { kind: "move", from: "README.md", path: "docs/README.md", content: encodeUtf8("moved\n") },
      { kind: "delete", path: "gone" },
      { kind: "mode", path: "run.sh", mode: "file" },
    ], { tags: ["v1"], checksum: true });
    const checkout = scratch.path("checkout");
    Deno.mkdirSync(checkout);
    scratch.fossil(["open", fixture.path], checkout);
    assert.equal(Deno.readTextFileSync(`${checkout}/docs/README.md`), "moved\n");
    assert.equal(Deno.readTextFileSync(`${checkout}/dir with space/ü 😀.txt`), "text\n");
    assert.equal((Deno.statSync(`${checkout}/run.sh`).mode ?? 0) & 0o111, 0);
    assert.throws(() => Deno.statSync(`${checkout}/gone`), Deno.errors.NotFound);
    assert.match(fixture.fossil("tag", "list"), /v1/);
    Deno.writeTextFileSync(`${checkout}/theirs.txt`, "theirs\n");
    scratch.fossil(["add", "theirs.txt"], checkout);
    scratch.fossil(["commit", "-m", "theirs", "--no-warnings", "--allow-older"], checkout);
    const parent = fixture.repository.read(() =>
      fixture.repository.db.value<string>(
        "SELECT uuid FROM event JOIN blob ON rid=objid WHERE comment='theirs'",
      )
    );
    assert.ok(parent);
    fixture.commit([put("theirs.txt", "ours\n")], { parent, date: Date.now() + 60_000 });
    scratch.fossil(["update"], checkout);
    assert.equal(Deno.readTextFileSync(`${checkout}/theirs.txt`), "ours\n");
    fixture.assertSound();
  },
);

Deno.test("a branch that starts at a rename changes no file", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  fixture.commit([put("old", "a\n")]);
  const from = fixture.commit([{ kind: "move", from: "old", path: "new" }]);
  const checkin = writeBranch(repository, { ...fixture.author(), name: "side", from });
  const reader = new Reader(repository);
  assert.deepEqual(readCheckin(reader, checkin).files_changed, []);
});

judged("branches, merges, tags and amendments are what fossil shows", (program) => {
  using fixture = new Fixture(program);
  const { repository } = fixture;
  const first = fixture.commit([put("a", "a\n")]);
  const branch = writeBranch(repository, { ...fixture.author(), name: "feature x", from: first });
  const second = fixture.commit([put("b", "b\n")], { parent: branch });
  fixture.commit([put("c", "c\n")]);
  fixture.commit([put("b", "b\n")], { merged: [second], integrated: [second], comment: "merge" });
  assert.match(fixture.fossil("branch", "list", "--closed"), /feature x/);
  assert.doesNotMatch(fixture.fossil("branch", "list"), /feature x/);
  amendCheckin(repository, {
    ...fixture.author(),
    checkin: first,
    comment: "edited comment",
    newUser: "bob",
  });
  const change = { sign: "+", name: "sym-release", target: first } as const;
  writeTags(repository, { ...fixture.author(), changes: [change] });
  const info = fixture.fossil("info", "release");
  assert.match(info, /comment:\s+edited comment/);
  assert.match(info, new RegExp(first.slice(0, 40)));
  writeTags(repository, { ...fixture.author(), changes: [{ ...change, sign: "-" }] });
  assert.doesNotMatch(fixture.fossil("tag", "list"), /release/);
  const leaf = fixture.commit([put("d", "d\n")]);
  amendCheckin(repository, { ...fixture.author(), checkin: leaf, closed: true });
  refuses("conflict", () => fixture.commit([put("d", "e\n")], { parent: leaf }));
  amendCheckin(repository, { ...fixture.author(), checkin: leaf, closed: false });
  fixture.commit([put("d", "e\n")], { parent: leaf });
  const moved = fixture.commit([put("d", "f\n")]);
  amendCheckin(repository, { ...fixture.author(), checkin: moved, branch: "other" });
  assert.match(fixture.fossil("info", "other"), new RegExp(moved.slice(0, 40)));
  fixture.assertSound();
});

judged(
  "a merge that was made on a branch of its own moves to the branch that it continues",
  (program) => {
    using fixture = new Fixture(program);
    const { repository } = fixture;
    const first = fixture.commit([put("a", "a\n")]);
    const work = fixture.commit([put("b", "b\n")], { parent: first, branch: "work" });
    const base = fixture.commit([put("c", "c\n")], { parent: first });
    const sides = { ours: base, theirs: work };
    const merge = (closes: readonly string[]) =>
      writeMerge(repository, { ...fixture.author(), ...sides, branch: "landing/1", closes })
        .checkin;
    const early = merge([]) ?? "";
    const tested = merge([early]) ?? "";
    const move = (checkin: string) =>
      moveToBranch(repository, { ...fixture.author(), checkin, branch: "trunk", closes: [work] });
    move(tested);
    assert.match(fixture.fossil("info", "trunk"), new RegExp(tested.slice(0, 40)));
    assert.match(fixture.fossil("branch", "list", "--closed"), /landing\/1[^]*work/);
    refuses("conflict", () => move(early));
    const next = fixture.commit([put("d", "d\n")], { parent: tested });
    assert.match(fixture.fossil("info", "trunk"), new RegExp(next.slice(0, 40)));
    fixture.assertSound();
  },
);

Deno.test("a move to a branch of any name is reported with a working link", () => {
  using fixture = new Fixture();
  const checkin = fixture.commit([put("a", "a")]);
  const branch = "a b!\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~ü😀";
  const tag = { sign: "*", target: checkin } as const;
  // Other programs give branches names that muster refuses.
  const changes = [
    { ...tag, name: "branch", value: branch },
    { ...tag, name: `sym-${branch}` },
    { sign: "-", target: checkin, name: "sym-trunk" },
  ] as const;
  writeTags(fixture.repository, { ...fixture.author(), changes });
  const comment = fixture.repository.db.value<string>("SELECT comment FROM event WHERE type='g'");
  // As Fossil 2.28 has it.
  const name = "a+b%21%22%23$%25%26%27%28%29%2A%2B%2C-.%2F09%3A%3B%3C%3D%3E%3F%40AZ%5B%5C%5D%5E_" +
    "%60az%7B%7C%7D~%C3%BC%F0%9F%98%80";
  assert.match(comment ?? "", /^Edit \[[0-9a-f|]+\]: Move to branch \[/);
  assert.equal(/r=(.*?)&nd/.exec(comment ?? "")?.[1], name);
});

judged("a check-in can get other parents", (program) => {
  using fixture = new Fixture(program);
  const first = fixture.commit([put("a", "a\n".repeat(50))]);
  const second = fixture.commit([put("b", "b\n".repeat(50))]);
  const third = fixture.commit([put("c", "c\n".repeat(50))]);
  amendCheckin(fixture.repository, { ...fixture.author(), checkin: third, parents: [first] });
  const parents = fixture.repository.db.rows(
    "SELECT uuid FROM plink JOIN blob ON blob.rid=pid WHERE cid=?",
    fixture.repository.ridOf(third),
  );
  assert.deepEqual(parents.map((row) => ({ ...row as object })), [{ uuid: first }]);
  assert.match(fixture.fossil("leaves"), new RegExp(second.slice(0, 10)));
  fixture.assertSound();
});

judged(
  "a private check-in stays out of what is synchronised, until a public one needs its files",
  (program) => {
    using fixture = new Fixture(program);
    const { repository } = fixture;
    const text = "private\n".repeat(40);
    const checkin = fixture.commit([put("a", text), put("b", "b\n".repeat(40))], {
      isPrivate: true,
      branch: "private",
    });
    const privates = () => repository.db.value<number>("SELECT count(*) FROM private");
    assert.equal(privates(), 3);
    fixture.assertSound();
    fixture.commit([put("c", text)]);
    assert.equal(privates(), 2);
    assert.ok(repository.store.isPrivate(repository.ridOf(checkin)));
    fixture.assertSound();
    const clone = fixture.scratch.path("clone.fossil");
    fixture.scratch.fossil(["clone", fixture.path, clone]);
    assert.notEqual(fixture.scratch.run(["artifact", checkin, "-R", clone]).code, 0);
    assert.match(fixture.scratch.fossil(["test-integrity", "-R", clone]), / 0 errors/);
  },
);

judged("a clone pulls what is written here, and pushes what was written there", (program) => {
  using fixture = new Fixture(program);
  const { repository, scratch } = fixture;
  const [clone, checkout] = [scratch.path("clone.fossil"), scratch.path("checkout")];
  const files = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => put(`f${from + i}`, `file ${from + i}\n`));
  fixture.commit(files(0, 50));
  assert.deepEqual(writeClusters(repository), []);
  repository.checkpoint();
  scratch.fossil(["clone", fixture.path, clone]);
  for (let i = 0; i < 2; i++) fixture.commit(files(50 + 500 * i, 550 + 500 * i));
  const clusters = writeClusters(repository);
  assert.equal(clusters.length, 2);
  const left = "SELECT group_concat(uuid) FROM unclustered JOIN blob USING(rid)";
  assert.deepEqual(repository.db.value<string>(left)?.split(",").sort(), clusters.toSorted());
  assert.deepEqual(writeClusters(repository), []);
  scratch.fossil(["pull", fixture.path, "-R", clone]);
  Deno.mkdirSync(checkout);
  scratch.fossil(["open", "--nosync", clone], checkout);
  assert.equal(Deno.readTextFileSync(`${checkout}/f1049`), "file 1049\n");
  Deno.writeTextFileSync(`${checkout}/theirs`, "theirs\n");
  scratch.fossil(["add", "theirs"], checkout);
  scratch.fossil(["commit", "-m", "theirs", "--allow-older", "--nosync"], checkout);
  scratch.fossil(["push", fixture.path], checkout);
  const theirs = "SELECT uuid FROM event JOIN blob ON rid=objid WHERE comment='theirs'";
  const parent = repository.read(() => repository.db.value<string>(theirs)) ?? "";
  fixture.commit([put("ours", "ours\n")], { parent, date: Date.now() + 60_000 });
  repository.checkpoint();
  fixture.fossil("push", clone);
  scratch.fossil(["update"], checkout);
  assert.equal(Deno.readTextFileSync(`${checkout}/ours`), "ours\n");
  fixture.assertSound();
});

Deno.test("writeCheckin() refuses invalid changes, with a code for each kind", () => {
  using fixture = new Fixture();
  const root = fixture.tip();
  const first = fixture.commit([put("a", "a"), put("dir/b", "b")]);
  refuses("conflict", () => fixture.commit([put("x", "x")], { parent: root }));
  refuses("conflict", () => fixture.commit([put("x", "x")], { date: 0 }));
  refuses("missing", () => fixture.commit([put("x", "x")], { parent: "0".repeat(40) }));
  refuses("missing", () => fixture.commit([put("x", "x")], { merged: ["0".repeat(64)] }));
  const wrong: FileChange[][] = [
    [],
    [put("a", "a")],
    [{ kind: "delete", path: "none" }],
    [{ kind: "move", from: "none", path: "x" }],
    [{ kind: "move", from: "a", path: "dir/b" }],
    [{ kind: "mode", path: "none", mode: "link" }],
    [put("../x", "x")],
    [put("/x", "x")],
    [put(".fslckout", "x")],
    [put("x", "x"), put("x", "y")],
    [put("a/b", "x")],
    [put("dir", "x")],
    [{
      kind: "write",
      path: "x",
      content: formatArtifact({
        kind: "control",
        date: 0,
        tags: [{ sign: "+", name: "closed", target: first, value: null }],
        user: "mallory",
      }),
    }],
  ];
  const before = dumpTables(fixture.path);
  for (const changes of wrong) refuses("invalid", () => fixture.commit(changes));
  refuses("invalid", () => fixture.commit([put("x", "x")], { comment: " " }));
  refuses("invalid", () => fixture.commit([put("x", "x")], { user: "" }));
  refuses("invalid", () => fixture.commit([put("x", "x")], { branch: " b" }));
  assert.deepEqual(dumpTables(fixture.path), before);
});

Deno.test("writeCheckin() swaps, replaces and keeps files and modes", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  fixture.commit([put("a", "A"), put("b", "B", "executable"), put("c", "C")]);
  const hash = fixture.commit([
    { kind: "move", from: "a", path: "d" },
    put("a", "new A"),
    put("b", "new B"),
    { kind: "delete", path: "c" },
  ]);
  const manifest = repository.artifact(repository.ridOf(hash));
  assert.ok(manifest?.kind === "manifest");
  const files = filesOf(repository, manifest).map(({ name, hash, mode, oldName }) => {
    const text = new TextDecoder().decode(repository.store.require(repository.ridOf(hash ?? "")));
    return [name, text, mode, oldName];
  });
  assert.deepEqual(files, [
    ["a", "new A", "file", null],
    ["b", "new B", "executable", null],
    ["d", "A", "file", "a"],
  ]);
});

Deno.test("a check-in continues at the tip of its branch, or starts a new branch", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const place = (request: Parameters<typeof placeCheckin>[1]) => placeCheckin(repository, request);
  const root = fixture.tip();
  assert.deepEqual(place({}), { parent: root, newBranch: null });
  const first = fixture.commit([put("a", "1")]);
  const side = fixture.commit([put("a", "2")], { parent: root, branch: "side" });
  const table: [Parameters<typeof place>[0], string, string | null][] = [
    [{}, first, null],
    [{ branch: "trunk" }, first, null],
    [{ branch: "side" }, side, null],
    [{ parent: root }, root, null],
    [{ branch: "new" }, first, "new"],
    [{ branch: "new", parent: side }, side, "new"],
  ];
  for (const [request, parent, newBranch] of table) {
    assert.deepEqual(place(request), { parent, newBranch });
  }
  refuses("conflict", () => place({ branch: "side", parent: first }));
  refuses("conflict", () => place({ parent: side }));
  refuses("missing", () => place({ parent: "f".repeat(64) }));
  repository.write({ user: null, ip: null }, () => repository.config.set("main-branch", "side"));
  assert.deepEqual(place({}), { parent: side, newBranch: null });
});

const LARGE = Array.from({ length: 300 }, (_, i) => put(`d${i % 9}/f${i}`, `${i}\n`));

/** The baseline of a check-in, null if its manifest is a full one. */
function baselineOf({ repository }: Fixture, checkin: string): string | null {
  const manifest = repository.artifact(repository.ridOf(checkin));
  assert.ok(manifest?.kind === "manifest");
  return manifest.baseline;
}

judged("branches, merges and moves in a large tree are what fossil rebuilds", (program) => {
  using fixture = new Fixture(program);
  const { repository } = fixture;
  const first = fixture.commit(LARGE);
  const branch = writeBranch(repository, { ...fixture.author(), name: "work", from: first });
  const moved = fixture.commit([
    { kind: "move", from: "d0/f0", path: "d0/g" },
    put("d1/f1", "one\n"),
  ], { parent: branch });
  const back = fixture.commit([
    { kind: "move", from: "d0/g", path: "d0/f0" },
    put("d2/f2", "two\n"),
  ], { parent: moved });
  const ours = fixture.commit([put("d1/f1", "1\nours\n"), { kind: "delete", path: "d3/f3" }], {
    parent: first,
  });
  const merge = { ...fixture.author(), ours, theirs: back, resolutions: [put("d1/f1", "both\n")] };
  const { checkin } = writeMerge(repository, merge);
  assert.ok(checkin);
  for (const each of [branch, moved, ours, checkin]) {
    assert.equal(baselineOf(fixture, each), first);
  }
  // The program would not list that "d0/g" is gone.
  assert.equal(baselineOf(fixture, back), null);
  const manifest = repository.artifact(repository.ridOf(checkin));
  assert.ok(manifest?.kind === "manifest");
  assert.deepEqual(manifest.files.map(({ name }) => name), ["d1/f1", "d2/f2", "d3/f3"]);
  fixture.assertSound();
});

Deno.test("a check-in names all files where much differs, or the repository wants it", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const first = fixture.commit(LARGE);
  const many = LARGE.slice(0, 29).map((change) => ({ ...change, content: encodeUtf8("new\n") }));
  const amending = fixture.commit(many.slice(0, 28));
  assert.equal(baselineOf(fixture, amending), first);
  assert.equal(baselineOf(fixture, fixture.commit(many.slice(28))), null);
  const hidden = fixture.commit([put("hidden", "h\n")], { isPrivate: true });
  assert.notEqual(baselineOf(fixture, hidden), null);
  repository.write({ user: "alice", ip: null }, () => {
    repository.config.set("forbid-delta-manifests", "on");
  });
  assert.equal(baselineOf(fixture, fixture.commit([put("d8/f8", "8 8\n")])), null);
});

Deno.test("no public check-in amends a private one", () => {
  using fixture = new Fixture();
  const first = fixture.commit(LARGE, { isPrivate: true });
  const opened = fixture.commit([put("d8/f8", "8 8\n")], { parent: first });
  assert.equal(baselineOf(fixture, opened), null);
});
