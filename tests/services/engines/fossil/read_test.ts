import assert from "node:assert/strict";
import fc from "fast-check";
import {
  amendCheckin,
  encodeUtf8,
  listBranches,
  listTags,
  readBlame,
  readCheckin,
  readDiff,
  Reader,
  readFile,
  readHistory,
  readStatistics,
  readTimeline,
  readTree,
  Repository,
  resolveArtifact,
  resolveCheckin,
  unifiedDiff,
  writeBranch,
  writeTags,
} from "../../../../services/engines/fossil/mod.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";
import { judged } from "./support/judges.ts";
import { Fixture, put, refuses } from "./support/fixture.ts";
import { Scratch } from "./support/fossil.ts";
import { History } from "./support/history.ts";
import { patched } from "./support/patch.ts";

/** Where a file of a tree has its content from, as one line. */
function lines(...numbers: readonly number[]): string {
  return numbers.map((number) => `line ${number}\n`).join("");
}

for (const seed of [1, 2]) {
  judged(
    `names, trees and branches of a random history are those of fossil (seed ${seed})`,
    (program) => {
      using scratch = new Scratch(program);
      const path = scratch.path("random.fossil");
      using repository = Repository.create(path, { admin: "alice", date: History.start });
      new History(repository, seed).run(150);
      repository.checkpoint();
      const reader = new Reader(repository);
      const branches = listBranches(reader);
      const named = (...options: string[]) =>
        scratch.fossil(["branch", "list", ...options, "-R", path])
          .split("\n").slice(0, -1).map((line) => line.slice(3)).sort();
      const withStatus = (status: string) =>
        branches.filter((branch) => branch.status === status).map(({ name }) => name).sort();
      assert.deepEqual(withStatus("open"), named());
      assert.deepEqual(withStatus("closed"), named("-c"));
      const prefixes = ["", "tag:", "root:", "start:", "merge-in:"];
      const names = ["tip", ...listTags(reader).map(({ name }) => name)];
      names.push(...branches.flatMap(({ name }) => prefixes.map((prefix) => prefix + name)));
      for (const name of names) {
        const shown = scratch.run(["whatis", name, "-R", path]).stdout;
        const theirs = /^artifact: +([0-9a-f]+)$/m.exec(shown)?.[1];
        assert.equal(resolveArtifact(reader, name).uuid, theirs, name);
      }
      for (const { last_uuid: checkin } of branches) {
        const theirs = scratch.fossil(["ls", "-r", checkin, "-R", path]).split("\n").slice(0, -1);
        const { entries } = readTree(reader, { checkin, recursive: true });
        assert.deepEqual(entries.map(({ name }) => name).sort(), theirs.sort());
      }
    },
  );
}

Deno.test("a file is followed through renames by history, blame and diff", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const first = fixture.commit([put("a", lines(1, 2, 3)), put("other", "x")]);
  const second = fixture.commit([{ kind: "move", from: "a", path: "dir/ü 😀" }]);
  const content = encodeUtf8(lines(1, 2, 4, 3));
  const third = fixture.commit([{ kind: "move", from: "dir/ü 😀", path: "c", content }]);
  const fourth = fixture.commit([put("a", "another file\n"), { kind: "delete", path: "other" }]);
  const { checkins, total } = readHistory(reader, { path: "c" });
  assert.equal(total, 3);
  assert.deepEqual(
    checkins.map(({ uuid, name, change_type, prev_name }) => [uuid, name, change_type, prev_name]),
    [[third, "c", "renamed", "dir/ü 😀"], [second, "dir/ü 😀", "renamed", "a"], [
      first,
      "a",
      "added",
      null,
    ]],
  );
  assert.deepEqual(readHistory(reader, { path: "c", limit: 1, offset: 1 }).checkins, [checkins[1]]);
  const blame = readBlame(reader, { path: "c" });
  assert.deepEqual(blame.lines.map(({ uuid }) => uuid), [first, first, third, first]);
  assert.deepEqual(blame.lines.map(({ text }) => text), ["line 1", "line 2", "line 4", "line 3"]);
  const { files } = readDiff(reader, { from: first, to: fourth, maxMs: Infinity });
  assert.deepEqual(
    files.map(({ name, change_type, prev_name }) => [name, change_type, prev_name]),
    [
      ["a", "added", null],
      ["c", "renamed", "a"],
      ["other", "deleted", null],
    ],
  );
  assert.equal(
    files[1]!.diff,
    "--- a/a\n+++ b/c\n@@ -1,3 +1,4 @@\n line 1\n line 2\n+line 4\n line 3\n",
  );
  const back = readDiff(reader, { from: fourth, to: first, path: "a", maxMs: Infinity });
  assert.deepEqual(back.files.map(({ change_type }) => change_type), ["modified"]);
  assert.deepEqual(
    readCheckin(reader, second).files_changed.map(({ name, prev_name }) => [name, prev_name]),
    [["dir/ü 😀", "a"]],
  );
  assert.deepEqual(readTree(reader, { path: "/dir/", checkin: second }).entries, [{
    name: "ü 😀",
    type: "file",
    uuid: checkins[1]!.file_uuid,
    size: lines(1, 2, 3).length,
    executable: false,
    last_checkin: readTimeline(reader, { limit: 3 }).checkins.slice(2).map(
      ({ uuid, timestamp, user, comment }) => ({ uuid, timestamp, user, comment }),
    )[0],
  }]);
});

Deno.test("changes of type and of the executable bit are reported", () => {
  using fixture = new Fixture();
  const reader = new Reader(fixture.repository);
  fixture.commit([put("run", "x"), put("to", "run")]);
  fixture.commit([
    { kind: "mode", path: "run", mode: "executable" },
    { kind: "mode", path: "to", mode: "link" },
  ]);
  const changes = readCheckin(reader).files_changed;
  assert.deepEqual(
    changes.map(({ name, change_type, type, executable, mode_changed }) =>
      [name, change_type, type, executable, mode_changed].join()
    ),
    ["run,modified,file,true,true", "to,modified,link,false,true"],
  );
  assert.ok(readFile(reader, { path: "run" }).executable);
  assert.deepEqual(readTree(reader).entries.map(({ type }) => type), ["file", "link"]);
});

Deno.test("files from a merge keep their last change, and the merge is reported", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const base = fixture.commit([put("f", lines(1, 2, 3)), put("kept", "k")]);
  const start = writeBranch(repository, { ...fixture.author(), from: base, name: "side" });
  const text = lines(1, 2, 3, 4);
  const side = fixture.commit([put("f", text), put("new", lines(9))], { parent: start });
  const trunk = fixture.commit([put("kept", "k2")]);
  const merge = fixture.commit([put("f", text), put("new", lines(9))], { merged: [side] });
  const last = Object.fromEntries(
    readTree(reader).entries.map(({ name, last_checkin }) => [name, last_checkin?.uuid]),
  );
  assert.deepEqual(last, { f: side, kept: trunk, new: side });
  const origins = (path: string) => readBlame(reader, { path }).lines.map(({ uuid }) => uuid);
  assert.deepEqual(origins("f"), [base, base, base, merge]);
  assert.deepEqual(origins("new"), [merge]);
  const { checkins, graph } = readTimeline(reader, { graph: true });
  const [first] = checkins;
  assert.equal(first!.uuid, merge);
  assert.deepEqual(first!.parents, [trunk, side]);
  assert.ok(first!.is_merge && first!.is_leaf && !first!.is_closed);
  assert.deepEqual(graph!.slice(0, 4).map(({ lane }) => lane), [0, 0, 1, 1]);
  assert.deepEqual(graph![0]!.links.map(({ lane, is_merge }) => [lane, is_merge]), [
    [0, false],
    [1, true],
  ]);
});

Deno.test("a reader sees its own writes and those of others", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  const count = () => [
    readTimeline(reader).total,
    readStatistics(reader).checkin_count,
    listTags(reader).length,
  ];
  assert.deepEqual(count(), [1, 1, 0]);
  const checkin = fixture.commit([put("a", "a")]);
  assert.deepEqual(count(), [2, 2, 0]);
  using other = Repository.open(fixture.path);
  const changes = [{ sign: "+", name: "sym-v1", target: checkin }] as const;
  writeTags(other, { ...fixture.author(), changes });
  assert.deepEqual(count(), [2, 2, 1]);
  amendCheckin(other, { ...fixture.author(), checkin, comment: "better", newUser: "carol" });
  const { checkins } = readTimeline(reader, { user: "carol" });
  assert.deepEqual(checkins.map(({ comment, tags }) => [comment, tags]), [["better", ["v1"]]]);
});

Deno.test("caches from a rolled-back write are dropped", () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const reader = new Reader(repository);
  assert.equal(readTimeline(reader).total, 1);
  assert.throws(() =>
    repository.write({ user: "alice", ip: null }, () => {
      fixture.commit([put("a", "a")]);
      assert.equal(readTimeline(reader).total, 2);
      throw new Error("undone");
    }), /undone/);
  assert.equal(readTimeline(reader).total, 1);
  assert.equal(readTimeline(reader).checkins.length, 1);
});

Deno.test("errors of reading have distinct codes", () => {
  using fixture = new Fixture();
  const reader = new Reader(fixture.repository);
  const binary = { kind: "write", path: "bin", content: Uint8Array.of(0, 1) } as const;
  for (let i = 0; i < 400; i++) {
    fixture.repository.write(
      { user: null, ip: null },
      () => fixture.repository.receive(encodeUtf8(`${i}`)),
    );
  }
  const first = fixture.commit([put("f", lines(1)), binary]);
  fixture.commit([put("f", lines(2)), { ...binary, content: Uint8Array.of(0, 2) }]);
  const prefixes = fixture.repository.db.rows<{ prefix: string }>(
    "SELECT substr(uuid,1,4) AS prefix FROM blob GROUP BY 1 HAVING count(*)>1",
  );
  refuses("ambiguous", () => resolveArtifact(reader, prefixes[0]!.prefix));
  refuses("missing", () => resolveCheckin(reader, prefixes[0]!.prefix.slice(0, 3)));
  refuses("missing", () => resolveCheckin(reader, "nobody knows"));
  refuses("missing", () => readFile(reader, { path: "nothing" }));
  refuses("missing", () => readFile(reader, { path: "f", checkin: "root:trunk" }));
  refuses("missing", () => readTree(reader, { path: "f" }));
  refuses("missing", () => readHistory(reader, { path: "nothing" }));
  refuses("invalid", () => readTimeline(reader, { limit: -1 }));
  refuses("invalid", () => readBlame(reader, { path: "bin" }));
  refuses("limit", () => readBlame(reader, { path: "f", maxVersions: 1 }));
  refuses("limit", () => readBlame(reader, { path: "f", maxBytes: 10 }));
  const { files } = readDiff(reader);
  assert.deepEqual(files.map(({ name, is_binary }) => [name, is_binary]), [
    ["bin", true],
    ["f", false],
  ]);
  assert.match(files[0]!.diff, /\nBinary files differ\n$/);
  assert.ok(readDiff(reader, { maxBytes: 0 }).files.every(({ is_truncated }) => is_truncated));
  assert.equal(readDiff(reader, { to: first }).files.length, 2);
});

Deno.test("a unified diff turns one text into the other", () => {
  const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "d\r\n", "ü\n"), {
    maxLength: 40,
  }).chain((parts) => fc.boolean().map((end) => end ? parts.join("") : `${parts.join("")}end`));
  fc.assert(
    fc.property(text, text, fc.nat(4), (before, after, context) => {
      const { hunks, added, deleted } = unifiedDiff(encodeUtf8(before), encodeUtf8(after), context);
      assert.equal(patched(before, hunks), after);
      assert.equal(hunks === "", before === after);
      assert.equal(hunks.match(/^\+/gm)?.length ?? 0, added);
      assert.equal(hunks.match(/^-/gm)?.length ?? 0, deleted);
    }),
    { numRuns: 500 },
  );
});

Deno.test("a loose diff leaves out what differs in white space alone", () => {
  const loose = (before: string, after: string) =>
    unifiedDiff(encodeUtf8(before), encodeUtf8(after), 3, true);
  const [before, after] = ["if x\n  one\n  two\nend\n", "if x\r\n\tone\n    2\nend"];
  assert.deepEqual(loose(before, after), {
    hunks: "@@ -1,4 +1,4 @@\n if x\r\n \tone\n-  two\n+    2\n end\n" +
      "\\ No newline at end of file\n",
    added: 1,
    deleted: 1,
  });
  assert.deepEqual(loose("a b\n", "ab\n\n").hunks, "@@ -1 +1,2 @@\n ab\n+\n");
  const text = fc.array(fc.constantFrom("a", " ", "\t", "\n", "b", "\r\n"), { maxLength: 40 })
    .map((parts) => `${parts.join("")}\n`);
  const bare = (line: string) => line.replace(/[ \t\r]+/g, "");
  const bareLines = (hunks: string) =>
    hunks.replace(/^([ +-])([^\n]*)/gm, (_, mark, line) => mark + bare(line));
  fc.assert(
    fc.property(text, text, fc.nat(4), (left, right, context) => {
      const { hunks } = unifiedDiff(encodeUtf8(left), encodeUtf8(right), context, true);
      assert.equal(patched(bare(left), bareLines(hunks)), bare(right));
      assert.equal(hunks === "", bare(left) === bare(right));
    }),
    { numRuns: 500 },
  );
});

Deno.test("texts that have little in common are compared in bounded time", () => {
  const numbers = (from: number) => Array.from({ length: 30_000 }, (_, i) => (from * i) % 9973);
  const [before, after] = [numbers(7919), numbers(6841)].map((list) => lines(...list));
  let hunks = "";
  const milliseconds = cpuTimeOf(() => {
    ({ hunks } = unifiedDiff(encodeUtf8(before!), encodeUtf8(after!), 3));
  });
  assert.ok(milliseconds < 5000, `${milliseconds} ms`);
  assert.equal(patched(before!, hunks), after);
});

Deno.test("every line of the graph ends at its check-in, in a lane of its own", () => {
  using scratch = new Scratch();
  const path = scratch.path("graph.fossil");
  using repository = Repository.create(path, { admin: "alice", date: History.start });
  new History(repository, 5).run(200);
  const { checkins, graph } = readTimeline(new Reader(repository), { limit: 500, graph: true });
  /** Lanes in use between one row and the next: where each line goes to. */
  let lanes = new Map<number, string>();
  for (const [i, { lane, passing, links }] of graph!.entries()) {
    const { uuid, parents } = checkins[i]!;
    const others = [...lanes].filter(([, target]) => target !== uuid);
    assert.ok(!others.some(([other]) => other === lane));
    assert.deepEqual([...passing].sort(), others.map(([other]) => other).sort());
    assert.deepEqual(links.map(({ parent }) => parent), parents);
    lanes = new Map(others);
    for (const { parent, lane: down } of links) {
      assert.ok(!lanes.has(down) || lanes.get(down) === parent);
      lanes.set(down, parent);
    }
  }
});
