/** `git push` to workspaces and for reviews. */
import assert from "node:assert/strict";
import { commit, gitTest } from "../../../support/git_pushes.ts";
import { commitFiles } from "../../../support/projects.ts";
import { pushRaw, rawBlob, rawCommit, rawPack, rawTree } from "../../../support/raw_pushes.ts";

gitTest("a push for a review makes a workspace and a review, and then its rounds", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" }, "Add b\n\nBecause.");
  const first = await clone.run("push", "origin", "HEAD:refs/for/trunk/topic");
  assert.equal(first.code, 0, first.stderr);
  assert.match(
    first.stderr,
    /remote: Review 1: http:\/\/127\.0\.0\.1:\d+\/projects\/demo\/reviews\/1/,
  );
  assert.match(first.stderr, /workspace\/topic/);
  const review = await test.answer("GET /api/reviews/1");
  assert.equal(review.title, "Add b");
  assert.equal(review.target_branch, "trunk");
  assert.equal(review.description, "Because.");
  const [workspace] = (await test.answer("GET /api/workspaces")).workspaces;
  assert.equal(workspace.name, "topic");
  assert.equal(workspace.agent_id, "caller");
  await clone.git("commit", "--quiet", "--amend", "--message", "Add b again");
  const amended = await clone.run("push", "origin", "HEAD:refs/for/trunk/topic");
  assert.equal(amended.code, 0, amended.stderr);
  assert.match(amended.stderr, /Review 1/);
  assert.equal((await test.answer("GET /api/reviews/1")).rounds.length, 2);
  const tip = await commit(clone, { "c.txt": "1\n" }, "Add c");
  const next = await clone.run("push", "origin", "HEAD:refs/for/trunk");
  assert.match(next.stderr, /Review 1/, next.stderr);
  assert.equal((await test.answer("GET /api/reviews/1")).rounds.length, 3);
  const fresh = await test.clone();
  assert.equal((await fresh.git("rev-parse", "origin/workspace/topic")).trim(), tip);
});

gitTest("a workspace is made, rewound and given up by pushes of its owner alone", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" });
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/workspace/mine");
  const foreign = await test.clone();
  await foreign.git("remote", "set-url", "origin", test.urlOf("other"));
  await foreign.git("checkout", "--quiet", "-b", "theirs", "origin/workspace/mine");
  await commit(foreign, { "c.txt": "1\n" });
  const refused = await foreign.run("push", "origin", "HEAD:refs/heads/workspace/mine");
  assert.match(refused.stderr, /belongs to "caller"/);
  const topic = await foreign.run("push", "origin", "HEAD:refs/for/trunk/mine");
  assert.match(topic.stderr, /belongs to "caller"/);
  await clone.git("commit", "--quiet", "--amend", "--message", "Again");
  const plain = await clone.run("push", "origin", "HEAD:refs/heads/workspace/mine");
  assert.match(plain.stderr, /rejected/);
  await clone.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/workspace/mine");
  const view = await test.answer("GET /api/workspaces/mine");
  assert.equal(view.status, "active");
  assert.equal(view.commits_made, 1);
  await clone.git("push", "--quiet", "origin", ":workspace/mine");
  assert.equal((await test.answer("GET /api/workspaces/mine")).status, "abandoned");
  const fresh = await test.clone();
  assert.doesNotMatch(await fresh.refs(), /workspace/);
});

gitTest("a refused push to a protected branch is told how to ask for a review", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  await test.answer("PUT /api/protection", { body: [{ pattern: "tr*", approvals: { any: 1 } }] });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "b\n" });
  const { stderr } = await clone.run("push", "origin", "HEAD:trunk");
  assert.match(stderr, /remote: For a review: git push origin HEAD:refs\/for\/trunk\s/);
  const other = await clone.run("push", "origin", "HEAD:landing/x");
  assert.doesNotMatch(other.stderr, /For a review/);
});

gitTest("a push for a review may name what it has seen of the workspace", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const one = await commit(clone, { "b.txt": "1\n" });
  await clone.git("push", "--quiet", "origin", "HEAD:refs/for/trunk/topic");
  const blob = rawBlob("2\n");
  const tree = rawTree([["b.txt", 0o100644, blob]]);
  const next = rawCommit(tree, { parents: [one] });
  const pack = rawPack([blob, tree, next]);
  const seen = (from: string) => pushRaw(test, [["refs/for/trunk/topic", next.hex, from]], pack);
  assert.match(await seen("1".repeat(40)), /it has changed meanwhile/);
  assert.match(await seen(one), /ok refs\/for\/trunk\/topic/);
});

gitTest("a workspace that is pushed to the main branch is told how it gets there", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" });
  await clone.git("push", "--quiet", "origin", "HEAD:refs/for/trunk/mine");
  const own = await clone.run("push", "origin", "HEAD:trunk");
  assert.match(
    own.stderr,
    /remote rejected.*\(it has the commits of workspace\/mine, .* refs\/for\/trunk\/mine for a review that lands/,
    own.stderr,
  );
  const foreign = await test.clone();
  await foreign.git("remote", "set-url", "origin", test.urlOf("other"));
  const other = await foreign.run("push", "origin", "origin/workspace/mine:refs/heads/trunk");
  assert.match(other.stderr, /it has commits of workspace\/mine: .*belongs to "caller"/);
});
