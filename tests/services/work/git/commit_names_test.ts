/** Hashes of Git's commits as names of check-ins. */
import assert from "node:assert/strict";
import { commit, gitTest } from "../../../support/git_pushes.ts";
import { commitFiles } from "../../../support/projects.ts";

gitTest("the API knows a commit by its hash in Git, and by the beginning of it", async (test) => {
  const first = await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const made = (await clone.git("rev-parse", "HEAD")).trim();
  const pushed = await commit(clone, { "b.txt": "b\n" }, "Add b");
  await clone.git("push", "--quiet", "origin", "trunk");
  assert.equal((await test.answer(`GET /api/checkin/${made}`)).uuid, first);
  const { uuid, comment } = await test.answer(`GET /api/checkin/${pushed.slice(0, 7)}`);
  assert.equal(comment, "Add b");
  const { files } = await test.answer(`GET /api/diff?from=${made}&to=${pushed}`);
  assert.deepEqual(files.map(({ name }: { name: string }) => name), ["b.txt"]);
  const report = { checkin: pushed, context: "tests", state: "success" };
  await test.answer("POST /api/status", { body: report });
  const { checkin, checks } = await test.answer(`GET /api/status?checkin=${uuid}`);
  assert.equal(checkin, uuid);
  assert.deepEqual(checks.map(({ context }: { context: string }) => context), ["tests"]);
  for (const checkin of [pushed.slice(0, 12), "0".repeat(40)]) {
    const refused = await test.send("POST /api/status", { body: { ...report, checkin } });
    assert.equal(refused.status, 404, await refused.text());
  }
  // A commit that nobody pushed is none.
  const alone = await commit(clone, { "c.txt": "c\n" });
  const missing = await test.send(`GET /api/checkin/${alone}`);
  assert.equal(missing.status, 404, await missing.text());
});
