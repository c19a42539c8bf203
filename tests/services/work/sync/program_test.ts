/** What the `fossil` program sends and gets beside ordinary check-ins, in every way that it has. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { BY_OPERATOR } from "../../../support/services.ts";
import { type SyncTest, withSync } from "../../../support/sync.ts";
import { judged } from "../../engines/fossil/support/judges.ts";

async function commit(
  { client }: SyncTest,
  folder: string,
  name: string,
  ...more: readonly string[]
): Promise<void> {
  Deno.writeTextFileSync(`${folder}/${name}`, `${name}\n`);
  await client.fossil(["addremove"], folder);
  await client.fossil(["commit", "--no-warnings", "-m", `Add ${name}`, ...more], folder);
}

async function makeAdmin({ api }: SyncTest, nick: string): Promise<void> {
  await api.services.hosting.projects.setMember("demo", nick, "admin", BY_OPERATOR);
}

/** The URL of the project for an agent, with a token that has the scope `admin`. */
async function adminUrl(test: SyncTest, nick: string): Promise<string> {
  await makeAdmin(test, nick);
  const { tokens } = test.api.services;
  const request = {
    owner: nick,
    name: "admin",
    scopes: ["admin" as const],
    project: null,
    expires_at: null,
  };
  const { token } = await tokens.create(request, BY_OPERATOR);
  return test.url.replace(/\/\/[^@]*@/, `//${nick}:${token}@`);
}

function comments(test: SyncTest, file: string): Promise<string> {
  return test.client.fossil(["timeline", "-n", "50", "-R", test.client.path(file)]);
}

judged("private check-ins go to admins who ask for them, and to nobody else", async (program) => {
  await withSync(program, async (test) => {
    const { client, otherUrl } = test;
    const url = await adminUrl(test, "caller");
    const folder = await client.checkout(url);
    await client.fossil(["settings", "autosync", "off"], folder);
    await commit(test, folder, "open.txt");
    await commit(test, folder, "secret.txt", "--private");
    await client.fossil(["sync"], folder);
    await client.fossil(["clone", "--private", url, "before.fossil"]);
    assert.doesNotMatch(await comments(test, "before.fossil"), /secret/);
    await client.fossil(["sync", "--private"], folder);
    await client.fossil(["clone", "--private", url, "admin.fossil"]);
    assert.match(await comments(test, "admin.fossil"), /secret/);
    await client.fossil(["clone", url, "plain.fossil"]);
    await client.fossil(["clone", otherUrl, "reader.fossil", "--save-http-password"]);
    const asked = await client.run(["clone", "--private", otherUrl, "asking.fossil"]);
    assert.match(asked.stdout + asked.stderr, /not authorized to sync private content/);
    const synced = await client.run(["sync", "--private", "-R", "reader.fossil"]);
    assert.match(synced.stdout + synced.stderr, /not authorized to sync private content/);
    for (const file of ["plain.fossil", "reader.fossil"]) {
      assert.match(await comments(test, file), /open/);
      assert.doesNotMatch(await comments(test, file), /secret/);
      await test.assertSound(client.path(file));
    }
    await test.assertSound(client.path("admin.fossil"));
    await test.assertSound();
  });
});

judged("a private check-in that becomes public goes to everybody", async (program) => {
  await withSync(program, async (test) => {
    const { client, otherUrl } = test;
    const url = await adminUrl(test, "caller");
    const folder = await client.checkout(url);
    await client.fossil(["settings", "autosync", "off"], folder);
    await commit(test, folder, "secret.txt", "--private");
    await client.fossil(["sync", "--private"], folder);
    await client.fossil(["publish", "private"], folder);
    await client.fossil(["sync"], folder);
    await client.fossil(["clone", otherUrl, "reader.fossil"]);
    assert.match(await comments(test, "reader.fossil"), /secret/);
    await test.assertSound(client.path("reader.fossil"));
    await test.assertSound();
  });
});

judged("a sync --verily finds what an ordinary sync passes over", async (program) => {
  await withSync(program, async (test) => {
    const { client, url } = test;
    const folder = await client.checkout(url);
    for (const name of ["a", "b", "c"]) await commit(test, folder, `${name}.txt`);
    await client.fossil(["clone", url, "second.fossil", "--save-http-password"]);
    const count = async (file: string) =>
      Number(await client.fossil(["sql", "-R", file, "SELECT count(*) FROM blob WHERE size>=0"]));
    const all = await count("second.fossil");
    // Both sides believe that nothing is left to send.
    const lost =
      "SELECT rid FROM blob WHERE uuid=(SELECT uuid FROM blob ORDER BY rid DESC LIMIT 1)";
    await client.fossil(["sync", "-R", "second.fossil"]);
    await client.fossil([
      "sql",
      "-R",
      "second.fossil",
      `DELETE FROM delta WHERE rid IN (${lost}); DELETE FROM unclustered;
       DELETE FROM blob WHERE rid IN (${lost} AND rid NOT IN (SELECT srcid FROM delta));`,
    ]);
    assert.equal(await count("second.fossil"), all - 1);
    await client.fossil(["sync", "--verily", "-R", "second.fossil"]);
    assert.equal(await count("second.fossil"), all);
    await client.fossil(["rebuild", "second.fossil"]);
    await test.assertSound(client.path("second.fossil"));
    await test.assertSound();
  });
});

/** More than the server reads of a request that may not write. */
const LARGE_BYTES = 17_000_000;

judged("large unversioned files go both ways", async (program) => {
  await withSync(program, async (test) => {
    const { client, url, otherUrl } = test;
    const folder = await client.checkout(url);
    const content = randomBytes(LARGE_BYTES);
    client.write("large.bin", content);
    await client.fossil(["uv", "add", "../large.bin", "--as", "large.bin"], folder);
    await client.fossil(["uv", "sync"], folder);
    await client.fossil(["clone", "--unversioned", otherUrl, "second.fossil"]);
    await client.fossil([
      "uv",
      "export",
      "large.bin",
      client.path("back.bin"),
      "-R",
      "second.fossil",
    ]);
    assert(content.equals(Deno.readFileSync(client.path("back.bin"))));
  });
});

judged("a push of a fork is stored, and its author is told by the program", async (program) => {
  await withSync(program, async (test) => {
    const { client, url, otherUrl, answer, caller } = test;
    const folders = [await client.checkout(url, "one"), await client.checkout(otherUrl, "two")];
    for (const [index, folder] of folders.entries()) {
      await client.fossil(["settings", "autosync", "off"], folder);
      await commit(test, folder, `${index}.txt`);
      await client.fossil(["sync"], folder);
    }
    const { checkins } = await answer("GET /api/timeline?branch=trunk", { as: caller });
    assert.equal(checkins.length, 3);
    await client.fossil(["sync"], folders[0]);
    for (const path of [test.file, client.path("one.fossil"), client.path("two.fossil")]) {
      assert.match(await client.fossil(["leaves", "-R", path]), /\(2\)/);
      await test.assertSound(path);
    }
    await client.fossil(["merge"], folders[0]);
    await client.fossil(["commit", "-m", "Join the fork", "--no-warnings"], folders[0]);
    await client.fossil(["sync"], folders[0]);
    assert.doesNotMatch(await client.fossil(["leaves", "-R", test.file]), /\(2\)/);
    await test.assertSound();
  });
});

judged("two pushers and a commit of the API all arrive", async (program) => {
  await withSync(program, async (test) => {
    const { client, url, otherUrl, answer, caller } = test;
    const folders = [await client.checkout(url, "one"), await client.checkout(otherUrl, "two")];
    for (const [index, folder] of folders.entries()) {
      await client.fossil(["settings", "autosync", "off"], folder);
      for (let i = 0; i < 3; i++) {
        await commit(
          test,
          folder,
          `${index}-${i}.txt`,
          ...i === 0 ? ["--branch", `l${index}`] : [],
        );
      }
    }
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "api" } });
    const commits = async () => {
      for (let i = 0; i < 3; i++) {
        const body = { message: `${i}`, changes: [{ path: `api-${i}.txt`, content: `${i}` }] };
        await answer("POST /api/workspaces/api/commit", { as: caller, body });
      }
    };
    await Promise.all([...folders.map((folder) => client.fossil(["sync"], folder)), commits()]);
    await Promise.all(folders.map((folder) => client.fossil(["sync"], folder)));
    const { total } = await answer("GET /api/timeline", { as: caller });
    for (const path of [test.file, client.path("one.fossil"), client.path("two.fossil")]) {
      assert.match(await client.fossil(["leaves", "-R", path]), /Add 0-2\.txt/);
      await test.assertSound(path);
    }
    assert(total >= 10);
  });
});
