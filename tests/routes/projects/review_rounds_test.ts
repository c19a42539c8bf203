/** The difference between the rounds of a review whose author took in the target branch. */
import assert from "node:assert/strict";
import { commitFiles, type TestProject, withProject } from "../../support/projects.ts";

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);

/** The lines 1 to 20, some of them changed. */
function text(changes: Readonly<Record<number, string>> = {}): string {
  return LINES.map((line, index) => `${changes[index + 1] ?? line}\n`).join("");
}

/** Commits files to the workspace `work`. */
async function commit(
  { answer, caller }: TestProject,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const changes = Object.entries(files).map(([path, content]) => ({ path, content }));
  const body = { message: "Work", changes };
  await answer("POST /api/workspaces/work/commit", { as: caller, body });
}

/** The added and deleted lines of a diff. */
function changesOf(diff: string): string[] {
  return diff.split("\n").filter((line) => /^[+-](?![+-])/.test(line));
}

Deno.test("the diff of two rounds leaves out what came with the target branch", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await commitFiles(test, { "shared.txt": text(), "theirs.txt": "1\n", "undone.txt": "1\n" });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "work" } });
    await commit(test, { "shared.txt": text({ 2: "mine" }), "mine.txt": "1\n" });
    const body = { title: "Work", workspace: "work" };
    await answer("POST /api/reviews/create", { as: caller, body });

    await commitFiles(test, {
      "shared.txt": text({ 18: "theirs" }),
      "theirs.txt": "2\n",
      "undone.txt": "2\n",
      "new.txt": "new\n",
    });
    await answer("POST /api/workspaces/work/update", { as: caller });
    const updated = await answer("GET /api/reviews/1/diff?from=1&to=2", { as: caller });
    assert.deepEqual(updated.files, []);
    assert.equal(updated.diff, "");

    await commit(test, {
      "shared.txt": text({ 2: "mine", 10: "later", 18: "theirs" }),
      "mine.txt": "2\n",
      "undone.txt": "1\n",
    });
    const { files, diff } = await answer("GET /api/reviews/1/diff?from=1&to=3", { as: caller });
    const names = files.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["mine.txt", "shared.txt", "undone.txt"]);
    assert.deepEqual(changesOf(diff), [
      "-1",
      "+2",
      "-line 10",
      "+later",
      "-2",
      "+1",
    ]);
    const whole = await answer("GET /api/reviews/1/diff?from=0&to=3", { as: caller });
    assert.ok(!whole.files.some(({ name }: { name: string }) => name === "theirs.txt"));
    const last = await answer("GET /api/reviews/1/diff?from=2&to=3", { as: caller });
    assert.equal(last.files.length, 3, "Rounds with one base are compared as they are");

    const part = await answer("GET /api/reviews/1/diff?from=1&to=3&page=2&per_page=2");
    assert.deepEqual([part.files.map(({ name }: { name: string }) => name), part.total], [
      ["undone.txt"],
      3,
    ]);
    const one = await answer("GET /api/reviews/1/diff?from=1&to=3&path=mine.txt");
    assert.deepEqual(changesOf(one.diff), ["-1", "+2"]);
    const bare = await answer("GET /api/reviews/1?diff=false");
    assert.deepEqual([bare.diff, bare.is_truncated, bare.round], ["", false, 3]);
  });
});

Deno.test("where author and target changed the same lines, the diff of the rounds shows both", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await commitFiles(test, { "shared.txt": text() });
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "work" } });
    await commit(test, { "shared.txt": text({ 2: "mine" }) });
    const body = { title: "Work", workspace: "work" };
    await answer("POST /api/reviews/create", { as: caller, body });
    await commitFiles(test, { "shared.txt": text({ 2: "theirs" }) });
    const changes = [{ path: "shared.txt", content: text({ 2: "both" }) }];
    await answer("POST /api/workspaces/work/update", { as: caller, body: { changes } });
    const { diff } = await answer("GET /api/reviews/1/diff?from=1&to=2", { as: caller });
    assert.deepEqual(changesOf(diff), ["-mine", "+both"]);
  });
});
