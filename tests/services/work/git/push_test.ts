/** `git push` to projects. */
import assert from "node:assert/strict";
import { commit, gitTest, requireSame } from "../../../support/git_pushes.ts";
import { commitFiles } from "../../../support/projects.ts";

gitTest("a push moves a branch forward, with the hashes of its commits", async (test) => {
  await commitFiles(test, { "a.txt": "a\n", "dir/b.txt": "b\n" });
  const clone = await test.clone();
  await commit(clone, { "a.txt": "a\nc\n" });
  const tip = await commit(clone, { "dir/c.txt": "c\n" }, "Two\n\nWith a body\n\n");
  const push = await clone.run("push", "origin", "trunk");
  assert.equal(push.code, 0, push.stderr);
  const fresh = await test.clone();
  assert.equal((await fresh.git("rev-parse", "HEAD")).trim(), tip);
  const { checkins } = await test.answer("GET /api/timeline");
  assert.equal(checkins[0].comment, "Two\n\nWith a body");
});

gitTest("the first push into an empty project names its main branch", async (test) => {
  const clone = await test.clone();
  await clone.git("checkout", "--quiet", "-b", "main");
  const tip = await commit(clone, { "a.txt": "a\n" }, "First");
  const early = await clone.run("push", "origin", "HEAD:refs/for/main");
  assert.match(early.stderr, /the first push makes it: git push origin HEAD:refs\/heads\/main/);
  const push = await clone.run("push", "origin", "main");
  assert.equal(push.code, 0, push.stderr);
  const fresh = await test.clone();
  assert.equal((await fresh.git("branch", "--show-current")).trim(), "main");
  assert.equal((await fresh.git("rev-parse", "HEAD")).trim(), tip);
  await requireSame(test, clone, "refs/heads");
});

gitTest("branches, tags and merges are pushed and deleted", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await clone.git("checkout", "--quiet", "-b", "side");
  await commit(clone, { "side.txt": "1\n" });
  await commit(clone, { "side.txt": "2\n" });
  await clone.git("checkout", "--quiet", "trunk");
  await commit(clone, { "main.txt": "1\n" });
  await clone.git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side");
  await clone.git("tag", "v1");
  await clone.git("tag", "-a", "v2", "-m", "Version 2\n\nA body\n", "HEAD~1");
  await clone.git("branch", "same", "HEAD~1");
  await clone.git("push", "--quiet", "--all", "origin");
  await clone.git("push", "--quiet", "--tags", "origin");
  await requireSame(test, clone, "refs/heads", "refs/tags");
  await clone.git("push", "--quiet", "origin", ":side", ":v1", ":refs/heads/same");
  await clone.git("branch", "-D", "side", "same");
  await clone.git("tag", "-d", "v1");
  await requireSame(test, clone, "refs/heads", "refs/tags");
});

gitTest("a branch that would lose commits, or has changed meanwhile, is refused", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const [one, other] = [await test.clone(), await test.clone()];
  const tip = await commit(one, { "a.txt": "one\n" });
  await one.git("push", "--quiet", "origin", "trunk");
  await commit(other, { "a.txt": "other\n" });
  const late = await other.run("push", "origin", "trunk");
  assert.notEqual(late.code, 0);
  const forced = await other.run("push", "--force", "origin", "trunk");
  assert.match(forced.stderr, /remote rejected.*non-fast-forward/);
  const fresh = await test.clone();
  assert.equal((await fresh.git("rev-parse", "HEAD")).trim(), tip);
});

gitTest("who may only read cannot push", async (test) => {
  const clone = await test.clone();
  await commit(clone, { "a.txt": "a\n" });
  await clone.git("remote", "set-url", "origin", test.bareUrl);
  const guest = await clone.run("push", "origin", "HEAD");
  assert.match(guest.stderr, /could not read Username|Authentication failed/);
});

gitTest("a folder that becomes what it was first is sent with its files", async (test) => {
  const clone = await test.clone();
  await clone.git("checkout", "--quiet", "-b", "main");
  await commit(clone, { "src/a.txt": "1\n", "b.txt": "b\n" });
  await commit(clone, { "src/c.txt": "c\n" });
  await clone.git("rm", "--quiet", "src/c.txt");
  await commit(clone, { "b.txt": "2\n" });
  await clone.git("push", "--quiet", "origin", "main");
  await requireSame(test, clone, "refs/heads");
});
