import assert from "node:assert/strict";
import * as fc from "fast-check";
import {
  cancelRelease,
  type Conflict,
  decodeUtf8,
  encodeUtf8,
  type FileChange,
  markConflict,
  mergeText,
  previewMerge,
  previewPick,
  Repository,
  writeMerge,
  writePick,
  writeRelease,
} from "../../../../services/engines/fossil/mod.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";
import { judged } from "./support/judges.ts";
import { Divergence, treeOf } from "./support/divergence.ts";
import { Fixture, put, refuses } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import { History } from "./support/history.ts";

/** A repository with two lines that start from the same files. */
class Lines extends Fixture {
  readonly start: string;

  constructor(files: readonly FileChange[]) {
    super();
    this.start = this.commit(files);
  }

  /** Commits on either side and gives both ends. */
  diverge(ours: readonly FileChange[], theirs: readonly FileChange[]) {
    const side = (changes: readonly FileChange[], branch: string) =>
      this.commit(changes, { parent: this.start, branch, allowEmpty: true });
    return { ours: side(ours, "ours"), theirs: side(theirs, "theirs") };
  }

  merge(sides: { ours: string; theirs: string }) {
    return writeMerge(this.repository, { ...this.author(), ...sides, allowFork: true });
  }

  /** Texts of a check-in's files, with a mark where the mode is not the plain one. */
  files(checkin: string | null): Record<string, string> {
    assert.ok(checkin !== null, "there are conflicts");
    return Object.fromEntries(
      treeOf(this.repository, checkin).entries()
        .map(([path, { text, mode }]) => [path, mode === "file" ? text : `${mode} ${text}`])
        .toArray(),
    );
  }
}

const TEN = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

function move(from: string, path: string, text?: string): FileChange {
  const moved = { kind: "move", from, path } as const;
  return text === undefined ? moved : { ...moved, content: encodeUtf8(text) };
}

function remove(path: string): FileChange {
  return { kind: "delete", path };
}

function mode(path: string, to: "file" | "executable" | "link"): FileChange {
  return { kind: "mode", path, mode: to };
}

const START = [put("a", TEN), put("b", "b\n"), put("dir/c", "c\n"), put("bin", "\0one")];

Deno.test("changes of both sides are merged", () => {
  const cases: [FileChange[], FileChange[], Record<string, string | undefined>][] = [
    [[put("a", TEN.replace("2", "two"))], [put("a", TEN.replace("9", "nine"))], {
      a: TEN.replace("2", "two").replace("9", "nine"),
    }],
    [[move("a", "x/a")], [put("a", `${TEN}11\n`)], { "a": undefined, "x/a": `${TEN}11\n` }],
    [[put("a", `0\n${TEN}`)], [move("a", "z", `${TEN}11\n`)], { a: undefined, z: `0\n${TEN}11\n` }],
    [[move("a", "z")], [move("a", "z")], { a: undefined, z: TEN }],
    [[move("dir/c", "new/c")], [move("b", "dir/b")], { "new/c": "c\n", "dir/b": "b\n" }],
    [[mode("a", "executable")], [put("a", `${TEN}x\n`)], { a: `executable ${TEN}x\n` }],
    [[mode("b", "link")], [put("a", "")], { b: "link b\n", a: "" }],
    [[remove("b")], [remove("b"), put("n", "n")], { b: undefined, n: "n" }],
    [[remove("b")], [], { b: undefined }],
    [[put("n", "same")], [put("n", "same")], { n: "same" }],
    [[put("bin", "\0two")], [], { bin: "\0two" }],
    [[put("bin", "\0two")], [put("bin", "\0two")], { bin: "\0two" }],
    [[put("b", "b")], [put("a", "")], { b: "b", a: "" }],
    [[], [move("a", "b2"), move("b", "a")], { a: "b\n", b2: TEN, b: undefined }],
    [[move("a", "t"), move("b", "a")], [put("a", `${TEN}11\n`)], { a: "b\n", t: `${TEN}11\n` }],
    [[put("dir/c", "C\n")], [move("dir/c", "moved/c"), put("dir", "now a file")], {
      "moved/c": "C\n",
      dir: "now a file",
    }],
  ];
  for (const [ours, theirs, expected] of cases) {
    for (const isSwapped of [false, true]) {
      using lines = new Lines(START);
      const [left, right] = isSwapped ? [theirs, ours] : [ours, theirs];
      const result = lines.merge(lines.diverge(left, right));
      const files = lines.files(result.checkin);
      for (const [path, text] of Object.entries(expected)) {
        assert.equal(files[path], text, `${path} of ${JSON.stringify([left, right])}`);
      }
    }
  }
});

Deno.test("conflicts are reported with all versions, and nothing is written", () => {
  const cases: [FileChange[], FileChange[], Conflict["kind"], string][] = [
    [[put("a", TEN.replace("5", "V"))], [put("a", TEN.replace("5", "five"))], "content", "a"],
    [[put("a", TEN.replace("5", "V"))], [put("a", TEN.replace("6", "VI"))], "content", "a"],
    [[put("bin", "\0two")], [put("bin", "\0three")], "binary", "bin"],
    [[remove("a")], [put("a", "x")], "deleted-by-us", "a"],
    [[put("a", "x")], [remove("a")], "deleted-by-them", "a"],
    [[remove("a")], [move("a", "z")], "deleted-by-us", "z"],
    [[put("n", "1")], [put("n", "2")], "both-added", "n"],
    [[put("n", "1")], [put("n", "1", "executable")], "both-added", "n"],
    [[move("a", "x")], [move("a", "y")], "both-renamed", "x"],
    [[move("a", "x")], [put("x", "new")], "same-path", "x"],
    [[move("a", "x")], [move("b", "x")], "same-path", "x"],
    [[put("x/y", "1")], [put("x", "2")], "file-folder", "x"],
    [[mode("a", "executable")], [mode("a", "link")], "link", "a"],
    [[put("b", "target", "link")], [put("b", "B\n")], "link", "b"],
  ];
  for (const [ours, theirs, kind, path] of cases) {
    using lines = new Lines(START);
    const sides = lines.diverge(ours, theirs);
    const before = lines.repository.db.value("SELECT count(*) FROM blob");
    const { checkin, preview } = lines.merge(sides);
    assert.equal(checkin, null);
    assert.deepEqual(preview.conflicts.map((found) => [found.kind, found.path]), [[kind, path]]);
    assert.equal(lines.repository.db.value("SELECT count(*) FROM blob"), before);
    assert.deepEqual(previewMerge(lines.repository, sides), preview);
  }
});

Deno.test("a conflict can be shown with markers", () => {
  using lines = new Lines([put("a", "1\n2\n3")]);
  const sides = lines.diverge([put("a", "1\n2\nIII")], [put("a", "1\n2\nthree\n")]);
  const [conflict] = previewMerge(lines.repository, sides).conflicts;
  const marked = markConflict(lines.repository, conflict!);
  assert.equal(
    marked && decodeUtf8(marked),
    "1\n2\n<<<<<<< ours\nIII\n||||||| ancestor\n3\n=======\nthree\n>>>>>>> theirs\n",
  );
});

Deno.test("a preview lists the changes; a merge has both parents and may close a branch", () => {
  using lines = new Lines(START);
  const { ours, theirs } = lines.diverge(
    [put("a", `0\n${TEN}`)],
    [put("a", `${TEN}11\n`), move("b", "B"), remove("dir/c"), put("n", "n")],
  );
  const preview = previewMerge(lines.repository, { ours, theirs });
  assert.deepEqual(preview.ancestors, [lines.start]);
  assert.deepEqual(
    preview.files.map(({ path, kind, from, isCombined }) => [path, kind, from, isCombined]),
    [
      ["B", "renamed", "b", false],
      ["a", "modified", null, true],
      ["dir/c", "deleted", null, false],
      ["n", "added", null, false],
    ],
  );
  const merge = { ...lines.author(), ours, theirs, integrate: true };
  const { checkin } = writeMerge(lines.repository, merge);
  const manifest = lines.repository.artifact(lines.repository.ridOf(checkin!));
  assert.ok(manifest?.kind === "manifest");
  assert.deepEqual(manifest.parents, [ours, theirs]);
  assert.equal(manifest.comment, "Merge theirs into ours");
  assert.equal(manifest.files.find(({ name }) => name === "B")?.oldName, "b");
  const closed = "SELECT 1 FROM tagxref WHERE tagid=9 AND rid=? AND tagtype>0";
  assert.ok(lines.repository.db.exists(closed, lines.repository.ridOf(theirs)));
  const again = { ours: checkin!, theirs };
  assert.equal(previewMerge(lines.repository, again).isMerged, true);
  refuses("conflict", () => lines.merge(again));
});

Deno.test("lines that crossed are merged from all their common ancestors", () => {
  using lines = new Lines(START);
  const one = lines.diverge([put("a", TEN.replace("2", "II"))], [put("a", TEN.replace("9", "IX"))]);
  const left = lines.merge(one).checkin!;
  const right = lines.merge({ ours: one.theirs, theirs: one.ours }).checkin!;
  const both = TEN.replace("2", "II").replace("9", "IX");
  const next = (parent: string, text: string) =>
    lines.commit([put("a", text)], { parent, allowFork: true });
  const sides = {
    ours: next(left, both.replace("II", "two")),
    theirs: next(right, both.replace("IX", "nine")),
  };
  assert.equal(previewMerge(lines.repository, sides).ancestors.length, 2);
  const { checkin } = lines.merge(sides);
  assert.equal(lines.files(checkin)["a"], TEN.replace("2", "two").replace("9", "nine"));
});

Deno.test("crossed lines that resolved a conflict in different ways conflict again", () => {
  using lines = new Lines(START);
  const one = lines.diverge([put("b", "ours\n")], [put("b", "theirs\n")]);
  const settle = (parent: string, merged: string, text: string) =>
    lines.commit([put("b", text)], { parent, merged: [merged], allowFork: true });
  const sides = {
    ours: settle(one.ours, one.theirs, "ours\n"),
    theirs: settle(one.theirs, one.ours, "theirs\n"),
  };
  const { checkin, preview } = lines.merge(sides);
  assert.equal(checkin, null);
  assert.deepEqual(preview.conflicts.map(({ kind, ancestor }) => [kind, ancestor]), [
    ["content", null],
  ]);
});

Deno.test("a file is followed through renames on a line that was merged before", () => {
  using lines = new Lines(START);
  const side = lines.commit([put("dir/c", "c1\n")], { parent: lines.start, branch: "side" });
  const renamed = lines.commit([move("dir/c", "c")], { parent: lines.start, branch: "main" });
  const merged = lines.merge({ ours: renamed, theirs: side }).checkin!;
  const later = lines.commit([put("dir/c", "c2\n")], { parent: side });
  const { checkin } = lines.merge({ ours: merged, theirs: later });
  assert.deepEqual(lines.files(checkin)["c"], "c2\n");
  assert.equal(lines.files(checkin)["dir/c"], undefined);
});

Deno.test("a check-in is picked, and backed out again, through a rename", () => {
  using lines = new Lines(START);
  const { ours, theirs } = lines.diverge([move("a", "moved", `0\n${TEN}`)], []);
  const picked = lines.commit([put("a", `${TEN}11\n`), put("n", "n")], { parent: theirs });
  lines.commit([put("b", "not picked\n")], { parent: picked });
  const pick = { ...lines.author("bob"), onto: ours, checkin: picked };
  const { checkin } = writePick(lines.repository, pick);
  assert.deepEqual(lines.files(checkin), {
    b: "b\n",
    bin: "\0one",
    "dir/c": "c\n",
    moved: `0\n${TEN}11\n`,
    n: "n",
  });
  const backout = { onto: checkin!, checkin: picked, backout: true };
  assert.ok(previewPick(lines.repository, backout).isClean);
  const undone = writePick(lines.repository, { ...lines.author(), ...backout });
  assert.deepEqual(lines.files(undone.checkin), lines.files(ours));
  const rows = "SELECT childid, isExclude FROM cherrypick ORDER BY childid";
  assert.deepEqual(lines.repository.db.rows<{ isExclude: number }>(rows).map((r) => r.isExclude), [
    0,
    1,
  ]);
});

Deno.test("histories without a common ancestor are not merged", () => {
  using lines = new Lines(START);
  const other = lines.commit([put("x", "x")], { parent: null });
  refuses("invalid", () => lines.merge({ ours: lines.start, theirs: other }));
  refuses("missing", () => lines.merge({ ours: lines.start, theirs: "0".repeat(64) }));
});

Deno.test("a release is a name with a message, moved or removed only on request", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const [one, two] = [fixture.commit([put("a", "1")]), fixture.commit([put("a", "2")])];
  const release = { name: "v1", checkin: one, message: "First\n\nrelease" };
  writeRelease(repository, { ...fixture.author(), ...release });
  const value = "SELECT value FROM tagxref JOIN tag USING(tagid) WHERE tagname='sym-v1' AND rid=?";
  assert.equal(repository.db.value(value, repository.ridOf(one)), "First\n\nrelease");
  const moved = { ...fixture.author(), name: "v1", checkin: two };
  refuses("conflict", () => writeRelease(repository, moved));
  refuses("conflict", () => writeRelease(repository, { ...moved, name: "trunk" }));
  writeRelease(repository, { ...moved, move: true });
  assert.equal(fixture.fossil("tag", "ls", "--raw", two).includes("sym-v1"), true);
  cancelRelease(repository, { ...fixture.author(), name: "v1" });
  refuses("missing", () => cancelRelease(repository, { ...fixture.author(), name: "v1" }));
});

function merged(base: string, ours: string, theirs: string): string | null {
  const { content, conflicts } = mergeText(...[base, ours, theirs].map(encodeUtf8) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ]);
  return conflicts > 0 ? null : decodeUtf8(content);
}

Deno.test("texts keep their line ends, and adjacent changes conflict", () => {
  assert.equal(
    merged("1\r\n2\r\n3\r\n", "1\r\n2\r\nIII\r\n", "I\r\n2\r\n3\r\n"),
    "I\r\n2\r\nIII\r\n",
  );
  assert.equal(merged("1\n2\n3", "0\n1\n2\n3", "1\n2\n3\n"), "0\n1\n2\n3\n");
  assert.equal(merged("1\n2\n3", "1\n2\n3\n4\n", "1\n2\n3\n5\n"), null);
  assert.equal(merged("1\n2\n", "1\n2\n3\n", "1\n2"), null);
  assert.equal(merged("1\n2\n", "one\n2\n", "1\ntwo\n"), null);
  assert.equal(merged("1\n2\n", "1\nx\n2\n", "1\nx\n2\n"), "1\nx\n2\n");
  assert.equal(merged("", "a\n", ""), "a\n");
  assert.equal(
    merged("\xff\n1\n2\n3\n", "\xff\nI\n2\n3\n", "\xff\n1\n2\nIII\n"),
    "\xff\nI\n2\nIII\n",
  );
});

Deno.test("a text merge has the changes of both sides, or reports a conflict", () => {
  const line = fc.constantFrom("a\n", "b\n", "c\n", "}\n", "\n");
  const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(""));
  fc.assert(fc.property(text, text, text, (base, ours, theirs) => {
    assert.equal(merged(base, ours, base), ours);
    assert.equal(merged(base, base, theirs), theirs);
    assert.equal(merged(base, ours, ours), ours);
    assert.equal(merged(base, ours, theirs), merged(base, theirs, ours));
  }));
  const edit = fc.record({ at: fc.nat(3), with: fc.array(fc.nat(99), { maxLength: 3 }) });
  fc.assert(fc.property(edit, edit, fc.boolean(), (left, right, isEnded) => {
    const base = Array.from({ length: 20 }, (_, i) => `base ${i}`);
    const apply = (edits: [number, { with: readonly number[] }][]) =>
      base.flatMap((text, i) => {
        const found = edits.find(([at]) => at === i);
        return found ? found[1].with.map((n) => `${i} new ${n}`) : [text];
      }).join("\n") + (isEnded ? "\n" : "");
    const [ours, theirs] = [[left.at, left], [right.at + 5, right]] as [
      [number, typeof left],
      [number, typeof right],
    ];
    assert.equal(merged(apply([]), apply([ours]), apply([theirs])), apply([ours, theirs]));
  }));
});

Deno.test("large texts that have little in common are merged in bounded time", () => {
  const text = (salt: number) =>
    Array.from({ length: 40_000 }, (_, i) => `${(i * salt) % 977}\n`).join("");
  const milliseconds = cpuTimeOf(() => void merged(text(3), text(5), text(7)));
  assert.ok(milliseconds < 8000, `${milliseconds} ms`);
});

judged("random merges that are clean here and in fossil have the same tree", (program) => {
  let compared = 0;
  for (let seed = 1000; seed < 1024; seed++) {
    using scratch = new Scratch(program);
    const path = scratch.path("it.fossil");
    using repository = Repository.create(path, { admin: "alice", date: History.start });
    const lines = new Divergence(repository, seed);
    lines.advance(3);
    const { left: ours, right: theirs } = lines;
    const { checkin } = writeMerge(repository, { ...lines.author(), ours, theirs });
    if (checkin === null) continue;
    repository.checkpoint();
    const folder = scratch.path("checkout");
    Deno.mkdirSync(folder);
    scratch.fossil(["open", "--nosync", path, ours], folder);
    const output = scratch.fossil(["merge", theirs], folder);
    if (/conflict|WARNING/i.test(output)) continue;
    compared++;
    for (const [name, { text }] of treeOf(repository, checkin)) {
      assert.equal(Deno.readTextFileSync(`${folder}/${name}`), text, `seed ${seed}: ${name}`);
    }
    const extra = scratch.fossil(["ls"], folder).trim().split("\n").filter((name) =>
      !treeOf(repository, checkin).has(name) && exists(`${folder}/${name}`)
    );
    assert.deepEqual(extra, [], `seed ${seed}`);
  }
  assert.ok(compared >= 8, `only ${compared} merges were clean`);
});

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

judged("merges, picks and releases leave tables that equal a rebuild", (program) => {
  using fixture = new Fixture(program);
  const lines = new Divergence(fixture.repository, 4);
  for (let i = 0; i < 3; i++) {
    lines.advance(2);
    lines.cross();
  }
  const author = () => ({ ...lines.author(), allowFork: true });
  writePick(fixture.repository, {
    ...author(),
    onto: lines.left,
    checkin: lines.left,
    backout: true,
  });
  writeRelease(fixture.repository, {
    ...author(),
    name: "v1",
    checkin: lines.left,
    message: "m",
  });
  fixture.assertSound();
});
