/** The `fossil` program pushes what its user may push, and shows why it may not push the rest. */
import assert from "node:assert/strict";
import { judged } from "../../engines/fossil/support/judges.ts";
import { commitFiles } from "../../../support/projects.ts";
import { type SyncTest, withSync } from "../../../support/sync.ts";

/** A checkout by `caller`, who may not push to trunk. */
async function protectedProject(test: SyncTest): Promise<string> {
  await commitFiles(test, { "README.md": "text\n".repeat(40) });
  await test.answer("PUT /api/protection", { body: [{ pattern: "trunk", push: "admin" }] });
  await test.answer("POST /api/workspaces/create", { as: test.caller, body: { name: "mine" } });
  return await test.client.checkout(test.url);
}

judged("the fossil program pushes every kind of own work to open branches", async (fossil) => {
  await withSync(fossil, async (test) => {
    const { client, answer } = test;
    const work = await protectedProject(test);
    const run = (...args: string[]) => client.fossil(args, work);
    await run("set", "autosync", "off");
    for (let index = 0; index < 40; index++) {
      client.write(
        `work/${index % 4}.txt`,
        `${index} ${"x".repeat(9000 + index)}${crypto.randomUUID()}\n`,
      );
      await run("addremove");
      const branch = index === 0 ? ["--branch", "feature"] : [];
      const delta = index % 5 === 4 ? ["--delta"] : [];
      await run("commit", "-m", `number ${index}`, "--no-warnings", ...branch, ...delta);
    }
    await run("tag", "add", "v1", "feature");
    await run("amend", "feature", "--comment", "better", "--bgcolor", "#ffccff");
    await run("update", "workspace/mine");
    client.write("work/mine.txt", "mine\n");
    await run("add", "mine.txt");
    await run("commit", "-m", "mine", "--no-warnings");
    await run("update", "feature");
    await run("merge", "workspace/mine", "--integrate");
    await run("commit", "-m", "merged", "--no-warnings");
    client.write("page.md", "# Page\n");
    await run("wiki", "create", "Page", "../page.md", "-M", "text/x-markdown");
    await run("ticket", "add", "title", "A ticket", "status", "Open");
    await run("push");
    const { checkins } = await answer("GET /api/timeline?branch=feature&per_page=100");
    assert.equal(checkins.length, 41);
    assert.equal((await answer("GET /api/workspaces/mine")).status, "merged");
    assert.equal((await answer("GET /api/wiki/Page")).content, "# Page\n");
    assert.equal((await answer("GET /api/tickets")).tickets[0].title, "A ticket");
    await test.assertSound();
  });
});

judged(
  "the fossil program shows why a push is refused, and pushes after a repair",
  async (fossil) => {
    await withSync(fossil, async (test) => {
      const { client, answer } = test;
      const work = await protectedProject(test);
      client.write("work/README.md", "mine\n");
      const whereIs = async (name: string) =>
        /^hash: +([0-9a-f]+)/m.exec(await client.fossil(["info", name], work))?.[1] ?? "";
      const refused = await client.run(["commit", "-m", "on trunk", "--no-warnings"], work);
      assert.match(
        refused.stdout + refused.stderr,
        /the push to the branch "trunk" is refused: only admins can push to it/,
      );
      const { checkins } = await answer("GET /api/timeline?branch=trunk");
      assert.notEqual(checkins[0].comment, "on trunk");
      const first = await whereIs("current");
      // It stays in the clone, and more follow.
      await client.fossil(["set", "autosync", "off"], work);
      for (let index = 0; index < 5; index++) {
        client.write("work/README.md", `${crypto.randomUUID()} ${"x".repeat(200 + index)}\n`);
        await client.fossil(["commit", "-m", `number ${index}`, "--no-warnings"], work);
      }
      // On a branch of their own, they can be pushed.
      await client.fossil(["amend", first, "--branch", "feature"], work);
      await client.fossil(["push"], work);
      const feature = await answer("GET /api/timeline?branch=feature");
      assert.equal(feature.total, 6);
      assert.equal(feature.checkins[0].comment, "number 4");
      await test.assertSound();
    });
  },
);

judged("a refused check-in keeps nobody from cloning what came after it", async (fossil) => {
  await withSync(fossil, async (test) => {
    const { client, url, otherUrl } = test;
    const files = Array.from({ length: 20 }, (_, index) => [`files/${index}.txt`, `${index}\n`]);
    await commitFiles(test, Object.fromEntries(files));
    const work = await client.checkout(url);
    await client.checkout(otherUrl, "early");
    await client.fossil(["set", "autosync", "off"], work);
    client.write("work/files/1.txt", "one\n");
    const foreign = ["--branch", "feature", "--user-override", "nobody"];
    await client.fossil(["commit", "-m", "not mine", "--no-warnings", ...foreign], work);
    await client.run(["push"], work);
    client.write("work/files/2.txt", "two\n");
    await client.fossil(["commit", "-m", "mine", "--no-warnings"], work);
    const refused = await client.run(["push"], work);
    assert.match(refused.stdout + refused.stderr, /names the user "nobody"/);
    const remains = "SELECT (SELECT count(*) FROM phantom), (SELECT count(*) FROM event)";
    assert.equal((await client.fossil(["sql", "-R", test.file, remains])).trim(), "0,2");
    await client.fossil(["clone", "--save-http-password", otherUrl, "late.fossil"]);
    await test.assertSound(client.path("late.fossil"));
    for (const name of ["early", "late"]) {
      await client.fossil(["sync", "-R", client.path(`${name}.fossil`)]);
      const missing = ["sql", "-R", client.path(`${name}.fossil`), "SELECT count(*) FROM phantom"];
      assert.equal((await client.fossil(missing)).trim(), "0", name);
    }
  });
});
