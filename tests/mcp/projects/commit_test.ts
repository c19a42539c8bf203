import assert from "node:assert/strict";
import { commitFiles } from "../../support/projects.ts";
import { type ToolTest, withTools } from "./support.ts";

const NUMBERS = Array.from({ length: 20 }, (_, line) => `line ${line + 1}\n`).join("");

/** Runs a test on a workspace with some files. */
async function withWorkspace(run: (test: ToolTest) => Promise<void>): Promise<void> {
  await withTools(async (test) => {
    await commitFiles(test, { "numbers.txt": NUMBERS, "end.txt": "no end", "gone.txt": "a\nb\n" });
    await test.use("create_workspace", { name: "w" });
    await run(test);
  });
}

async function contentOf(test: ToolTest, filepath: string): Promise<string> {
  return (await test.use("read_file", { filepath, checkin: "workspace/w" })).data.content;
}

/** A commit to the workspace. */
function commit(rest: object) {
  return { workspace: "w", message: "Change", ...rest };
}

Deno.test("a patch changes, makes, renames and deletes files", async () => {
  await withWorkspace(async (test) => {
    const patch = `diff --git a/numbers.txt b/lines.txt
similarity index 90%
rename from numbers.txt
rename to lines.txt
--- a/numbers.txt
+++ b/lines.txt
@@ -1,4 +1,3 @@
 line 1
-line 2
 line 3
 line 4
@@ -18,3 +17,4 @@ something
 line 18
 line 19
 line 20
+line 21
diff --git a/run.sh b/run.sh
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1,2 @@
+#!/bin/sh
+echo hello
--- gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
--- a/end.txt\t2026-11-22
+++ b/end.txt\t2026-11-22
@@ -1 +1,2 @@
-no end
\\ No newline at end of file
+an end
+and more
`;
    const { data } = await test.use("commit_files", commit({ patch }));
    assert.deepEqual(data.moved, []);
    const expected = NUMBERS.replace("line 2\n", "") + "line 21\n";
    assert.equal(await contentOf(test, "lines.txt"), expected);
    assert.equal(await contentOf(test, "run.sh"), "#!/bin/sh\necho hello\n");
    assert.equal(await contentOf(test, "end.txt"), "an end\nand more\n");
    const { data: tree } = await test.use("browse_code", { checkin: "workspace/w" });
    const names = tree.files.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["end.txt", "lines.txt", "run.sh"]);
    const detail = await test.answer(`GET /api/tree?checkin=${data.uuid}`);
    const script = detail.entries.find(({ name }: { name: string }) => name === "run.sh");
    assert.equal(script.executable, true);
  });
});

Deno.test("a hunk at the wrong line applies where its lines are, if that is one place", async () => {
  await withWorkspace(async (test) => {
    const patch =
      "--- a/numbers.txt\n+++ b/numbers.txt\n@@ -3,2 +3,2 @@\n line 10\n-line 11\n+eleven\n";
    const { data } = await test.use("commit_files", commit({ patch }));
    assert.deepEqual(data.moved, ["numbers.txt: @@ -3,2 +3,2 @@ applied at line 10"]);
    assert.equal(await contentOf(test, "numbers.txt"), NUMBERS.replace("line 11", "eleven"));
  });
});

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    "other lines",
    "--- a/numbers.txt\n+++ b/numbers.txt\n@@ -1,2 +1,2 @@\n line 1\n-line two\n+two\n",
    /hunk @@ -1,2 \+1,2 @@: line 2 is "line 2", and the patch expects "line two"/,
  ],
  [
    "a missing line at the end",
    "--- a/gone.txt\n+++ b/gone.txt\n@@ -2,2 +2,1 @@\n b\n-c\n",
    /expects "c" at line 3, and the file has 2 lines/,
  ],
  [
    "wrong counts",
    "--- a/numbers.txt\n+++ b/numbers.txt\n@@ -1,3 +1,3 @@\n line 1\n-line 2\n+two\n",
    /announces 3 old and 3 new lines, and has 2 and 2/,
  ],
  ["a file that is not there", "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n", /no file none/],
  [
    "a new file that exists",
    "--- /dev/null\n+++ b/gone.txt\n@@ -0,0 +1 @@\n+a\n",
    /exists already/,
  ],
  [
    "only a part of a deleted file",
    "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    /not.*all/,
  ],
  ["words", "Change line 2 to two", /no unified diff/],
  ["no line +++", "--- a/gone.txt\n@@ -1 +1 @@\n-a\n+b\n", /must be "\+\+\+ b\/FILE"/],
  ["a header without numbers", "--- a/gone.txt\n+++ b/gone.txt\n@@ ... @@\n-a\n", /@@ -LINE,COUNT/],
];

Deno.test("a patch that does not apply exactly commits nothing, and the error says why", async () => {
  await withWorkspace(async (test) => {
    const before = (await test.use("get_workspace", { name: "w" })).data.tip;
    for (const [name, patch, pattern] of REFUSED) {
      assert.match(await test.fail("commit_files", commit({ patch })), pattern, name);
    }
    const both = [REFUSED[0]?.[1], REFUSED[1]?.[1]].join("");
    const changes = [{ path: "ok.txt", content: "ok" }];
    const text = await test.fail("commit_files", commit({ patch: both, changes }));
    assert.match(text, /^Nothing was committed\. numbers\.txt.*gone\.txt/);
    assert.equal((await test.use("get_workspace", { name: "w" })).data.tip, before);
  });
});

Deno.test("a hunk whose lines stand at several other places is refused", async () => {
  await withTools(async (test) => {
    await commitFiles(test, { "twice.txt": "x\na\nb\nx\na\nb\n" });
    await test.use("create_workspace", { name: "w" });
    const patch = "--- a/twice.txt\n+++ b/twice.txt\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n";
    const text = await test.fail("commit_files", commit({ patch }));
    assert.match(text, /stand at lines 2, 5, and not at line 3/);
  });
});

Deno.test("an unknown field of a change is named before a missing one, with those that it takes", async () => {
  await withTools(async (test) => {
    await test.use("create_workspace", { name: "w" });
    const inputs: readonly (readonly [object, RegExp])[] = [
      [{ edits: [{ path: "a", find: "b", new_text: "c" }] }, /^"edits\[0\]\.find" is not a field/],
      [{ edits: [{ path: "a", find: "b" }] }, /takes "path", "old_text", and "new_text"$/],
      [{ changes: [{ path: "a", contents: "b" }] }, /; did you mean "content"\?$/],
      [{ changes: [{ path: "a", agent_id: "b" }] }, /^"changes\[0\]\.agent_id" .* it takes "path"/],
      [{ changes: [{ path: "a", zzz: "b" }] }, /^(?!.*agent_id).*"rename_to", and "executable"$/],
    ];
    for (const [input, expected] of inputs) {
      const given = { workspace: "w", message: "m", ...input };
      assert.match(await test.fail("commit_files", given), expected);
    }
    const text = JSON.stringify([{ path: "a.txt", content: "a", executable: "false" }]);
    await test.use("commit_files", { workspace: "w", message: "m", changes: text });
  });
});

Deno.test("edits replace text that occurs once", async () => {
  await withWorkspace(async (test) => {
    const edit = (old_text: string, new_text = "new") => ({
      path: "numbers.txt",
      old_text,
      new_text,
    });
    const edits = [edit("line 20", "$& twenty"), edit("twenty", "20")];
    await test.use("commit_files", commit({ edits }));
    assert.equal(await contentOf(test, "numbers.txt"), NUMBERS.replace("line 20", () => "$& 20"));
    const fail = (edits: object[]) => test.fail("commit_files", commit({ edits }));
    assert.match(await fail([edit("line 99")]), /does not contain/);
    assert.match(await fail([edit("line 1")]), /contains "old_text" \d+ times/);
    assert.match(await fail([{ ...edit("a"), path: "none" }]), /no file none/);
  });
});

Deno.test("a commit to an absolute path says where paths begin", async () => {
  await withWorkspace(async (test) => {
    const changes = [{ path: "/src/a.ts", content: "a" }];
    const said = await test.fail("commit_files", commit({ changes }));
    assert.match(said, /"\/src\/a\.ts" .*: paths begin at the root, without a slash/);
  });
});

Deno.test("a commit on an old tip is refused with the new one", async () => {
  await withWorkspace(async (test) => {
    const changes = [{ path: "a", content: "a" }];
    const { data: first } = await test.use("commit_files", commit({ changes }));
    const later = commit({ changes: [{ path: "b", content: "b" }], parent: first.parent });
    assert.match(
      await test.fail("commit_files", later),
      new RegExp(`tip is now ${first.uuid.slice(0, 12)}\\.`),
    );
    const edits = [{ path: "a", old_text: "a", new_text: "b" }];
    const edited = commit({ edits, parent: first.parent });
    assert.match(
      await test.fail("commit_files", edited),
      new RegExp(`its tip is ${first.uuid.slice(0, 12)}\\.`),
    );
    assert.match(await test.fail("commit_files", { ...later, workspace: "x" }), /list_workspaces/);
  });
});
