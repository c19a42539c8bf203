/** The `git-lfs` program and projects. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Clone } from "../../../support/git_client.ts";
import { type GitTest, withGit } from "../../../support/git_door.ts";
import { commit } from "../../../support/git_pushes.ts";
import { peer } from "../../../support/peers.ts";
import { BY_OPERATOR, type TestServicesOptions } from "../../../support/services.ts";
import { withSync } from "../../../support/sync.ts";

function lfsTest(
  name: string,
  run: (test: GitTest) => Promise<void>,
  options?: TestServicesOptions,
): void {
  Deno.test({ name, ...peer("git-lfs"), fn: () => withGit(run, options) });
}

/** Has the program take files `*.bin` of a clone. */
async function track(clone: Clone): Promise<void> {
  await clone.git("lfs", "install", "--local");
  await clone.git("lfs", "track", "*.bin");
}

function random(bytes: number): Uint8Array {
  const all = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(all.subarray(at, at + 65_536));
  return all;
}

/** Fetches what the pointers of a clone stand for. */
async function pull(clone: Clone): Promise<void> {
  await clone.git("lfs", "install", "--local");
  await clone.git("lfs", "pull");
}

lfsTest("git-lfs pushes to a private project, and another clone gets the content", async (test) => {
  const clone = await test.clone();
  await track(clone);
  const [one, two] = [random(300_000), random(10)];
  await commit(clone, { "one.bin": one, "dir/two.bin": two });
  const push = await clone.run("push", "origin", "HEAD");
  assert.equal(push.code, 0, push.stderr);
  const pointer = await test.answer("GET /api/lines?path=one.bin");
  assert.equal(pointer.lfs.size, one.length);
  const other = await test.clone();
  assert.match(await Deno.readTextFile(`${other.folder}/one.bin`), /^version https/);
  await pull(other);
  assert.deepEqual(await Deno.readFile(`${other.folder}/one.bin`), one);
  assert.deepEqual(await Deno.readFile(`${other.folder}/dir/two.bin`), two);
  // What is there is not sent again, and a change is.
  const before = test.requests.length;
  await commit(clone, { "two.bin": two, "three.bin": random(20) });
  await clone.git("push", "--quiet", "origin", "HEAD");
  const puts = test.requests.slice(before).filter((request) => request.startsWith("PUT "));
  assert.equal(puts.length, 1, puts.join("\n"));
  await other.git("pull", "--quiet");
  assert.equal((await Deno.readFile(`${other.folder}/three.bin`)).length, 20);
  await other.git("lfs", "fsck");
});

lfsTest("a guest gets the content of a public project, and pushes none", async (test) => {
  const clone = await test.clone();
  await track(clone);
  const content = random(1000);
  await commit(clone, { "a.bin": content });
  await clone.git("push", "--quiet", "origin", "HEAD");
  await test.api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
  const guest = await test.client.clone(test.bareUrl);
  await pull(guest);
  assert.deepEqual(await Deno.readFile(`${guest.folder}/a.bin`), content);
  await commit(guest, { "b.bin": random(1000) });
  const push = await guest.run("push", "origin", "HEAD");
  assert.notEqual(push.code, 0);
  const stranger = await test.client.clone(test.urlOf("outsider"));
  await stranger.git("lfs", "install", "--local");
  await commit(stranger, { "c.bin": random(1000) });
  const refused = await stranger.run("lfs", "push", "origin", "HEAD");
  assert.notEqual(refused.code, 0);
  assert.equal(test.requests.filter((request) => request.startsWith("PUT ")).length, 1);
});

lfsTest("a push over the quota says so, and stores no commit", async (test) => {
  const clone = await test.clone();
  await track(clone);
  await commit(clone, { "a.bin": random(600_000), "b.bin": random(600_000) });
  const push = await clone.run("push", "origin", "HEAD");
  assert.notEqual(push.code, 0);
  assert.match(push.stderr, /limits\.project_bytes/);
  assert.equal((await test.answer("GET /api/timeline")).total, 1);
}, { config: { limits: { project_bytes: 1_000_000 } } });

Deno.test({
  name: "fossil users see nothing of the content, and cannot change it",
  ...peer("fossil"),
  fn: () =>
    withSync("fossil", async (test) => {
      const { api, client, url, caller } = test;
      const oid = createHash("sha256").update("content").digest("hex");
      const stored = await api.send({
        who: "guest",
        request: `PUT /projects/demo.git/info/lfs/objects/${oid}`,
        headers: { authorization: caller },
        body: "content",
      });
      assert.equal(stored.status, 200);
      const folder = await client.checkout(url);
      client.write("other.txt", "something else\n");
      for (const name of ["notes.txt", `lfs/${oid}`]) {
        await client.fossil(["uv", "add", "../other.txt", "--as", name], folder);
      }
      await client.run(["uv", "sync"], folder);
      const names = await api.services.hosting.repositories.read(
        test.project,
        async (repository) => (await repository.unversionedFiles("")).map(({ name }) => name),
      );
      assert.deepEqual(names, [`lfs/${oid}`, "notes.txt"]);
      assert.equal(await (await test.send(`GET /api/lfs/${oid}`)).text(), "content");
      await client.fossil(["clone", "--unversioned", url, "second.fossil"]);
      const seen = await client.fossil(["uv", "list", "-R", "second.fossil"]);
      assert.match(seen, /notes\.txt/);
      assert.doesNotMatch(seen, /lfs/);
      await test.assertSound();
    }),
});
