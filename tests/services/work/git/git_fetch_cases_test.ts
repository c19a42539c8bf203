/** What Git's own tests of fetches expect of a server, by the names of their cases. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { commit } from "../../../support/git_pushes.ts";
import { gitCases } from "../../../support/git_cases.ts";
import type { GitTest } from "../../../support/git_door.ts";
import { BY_OPERATOR } from "../../../support/services.ts";

/** A clone of a project whose branch `main` has two commits. */
async function prepare(test: GitTest) {
  const clone = await test.clone();
  await clone.git("checkout", "--quiet", "-b", "main");
  await commit(clone, { file: "1\n" }, "one");
  await commit(clone, { file: "2\n" }, "two");
  await clone.git("push", "--quiet", "--set-upstream", "origin", "main");
  return clone;
}

/** Sends packets to the service of fetches in version 2; returns its answer. */
async function ask(test: GitTest, ...lines: readonly string[]): Promise<string> {
  const packets = lines.map((line) =>
    line.length === 4 && /^000[012]$/.test(line)
      ? line
      : (line.length + 4).toString(16).padStart(4, "0") + line
  );
  const { username, password } = new URL(test.url);
  const response = await fetch(`${test.bareUrl}/git-upload-pack`, {
    method: "POST",
    headers: {
      authorization: `Basic ${btoa(`${username}:${password}`)}`,
      "content-type": "application/x-git-upload-pack-request",
      "git-protocol": "version=2",
    },
    body: Buffer.from(packets.join("")),
  });
  return `${response.status} ${await response.text()}`;
}

for (const version of [2, 0]) {
  const settings = ["-c", `protocol.version=${version}`];
  gitCases(`t5551: fetches over HTTP in version ${version} of the protocol`, prepare, {
    "clone http repository": async ({ client, url, requests }) => {
      const before = requests.length;
      const clone = await client.clone(url, `protocol.version=${version}`);
      assert.deepEqual(await clone.log(), ["two", "one"]);
      assert.equal(
        requests.slice(before + 1).every((line) => line.endsWith(" 200")),
        true,
        requests.slice(before).join("\n"),
      );
    },
    "fetch changes via http": async ({ client, url, clone1 }) => {
      const clone = await client.clone(url, `protocol.version=${version}`);
      await commit(clone1, { file: "3\n" }, "three");
      await clone1.git("push", "--quiet");
      await clone.git(...settings, "pull", "--quiet");
      assert.deepEqual(await clone.log(), ["three", "two", "one"]);
    },
    "clone from password-protected repository": async ({ client, bareUrl, url }) => {
      const guest = await client.run(["clone", bareUrl, client.path("guest")]);
      assert.match(guest.stderr, /could not read Username/);
      await client.clone(url);
    },
    "transfer.hiderefs works over smart-http": async ({ client, url }) => {
      assert.doesNotMatch(
        await client.git([...settings, "ls-remote", url]),
        /landing|refs\/reviews/,
      );
    },
    "clone the 2,000 tag repo: 300 of them": async ({ client, url, clone1 }) => {
      const name = (await clone1.git("rev-parse", "HEAD")).trim();
      const lines = Array.from({ length: 300 }, (_, at) => `create refs/tags/tag-${at} ${name}\n`);
      const input = new TextEncoder().encode(lines.join(""));
      await client.git(["update-ref", "--stdin"], clone1.folder, input);
      await clone1.git("push", "--quiet", "--tags", "origin");
      const clone = await client.clone(url, `protocol.version=${version}`);
      assert.equal((await clone.git("tag")).trim().split("\n").length, 300);
    },
    "large fetch-pack requests can be sent using chunked encoding": async ({ client, url }) => {
      const folder = client.path(`chunked-${version}`);
      await client.git([
        ...settings,
        "-c",
        "http.postBuffer=65536",
        "clone",
        "--quiet",
        "--bare",
        url,
        folder,
      ]);
      await client.git(["fsck"], folder);
    },
    "fetch by SHA-1 without tag following": async ({ client, url, clone1 }) => {
      const clone = await client.clone(url, "--no-tags");
      await commit(clone1, { file: `${version}\n` }, "by hash");
      await clone1.git("push", "--quiet");
      const name = (await clone1.git("rev-parse", "HEAD")).trim();
      await clone.git(...settings, "fetch", "--quiet", "--no-tags", "origin", name);
      assert.equal((await clone.git("rev-parse", "FETCH_HEAD")).trim(), name);
      assert.equal(await clone.git("tag"), "");
    },
    "fetch of one commit asks once for the references and once for the pack": async (test) => {
      const { client, url, clone1, requests } = test;
      const clone = await client.clone(url);
      await commit(clone1, { file: `${version} again\n` }, "again");
      await clone1.git("push", "--quiet");
      const before = requests.length;
      await clone.git(...settings, "fetch", "--quiet");
      const posts = requests.slice(before).filter((line) => line.startsWith("POST"));
      assert.ok(posts.length <= (version === 2 ? 3 : 2), requests.slice(before).join("\n"));
    },
  });
}

gitCases("t5702: version 2 of the protocol", prepare, {
  "ls-remote and its patterns": async ({ client, url, clone1 }) => {
    await clone1.git("push", "--quiet", "origin", "HEAD:refs/heads/other", "HEAD:refs/tags/v1");
    const listed = await client.git(["ls-remote", "--heads", url, "main"]);
    assert.match(listed, /^[0-9a-f]{40}\trefs\/heads\/main\n$/);
    assert.match(
      await client.git(["ls-remote", "--symref", url, "HEAD"]),
      /^ref: refs\/heads\/main\tHEAD\n/,
    );
  },
  "ref advertisement is filtered with ls-refs": async (test) => {
    const answer = await ask(test, "command=ls-refs\n", "0001", "ref-prefix refs/tags/\n", "0000");
    assert.match(answer, /refs\/tags\/v1/);
    assert.doesNotMatch(answer, /refs\/heads|HEAD/);
  },
  "server-options are sent when fetching, cloning and listing": async ({ client, url, clone1 }) => {
    await client.git(["ls-remote", "-o", "hello", "-o", "world", url]);
    await client.git(["clone", "--quiet", "--server-option=hello", url, client.path("options")]);
    await clone1.git("fetch", "--quiet", "-o", "hello", "origin", "main");
  },
  "push with a config of version 2 does not request it": async ({ clone1 }) => {
    await commit(clone1, { file: "pushed\n" });
    await clone1.git("-c", "protocol.version=2", "push", "--quiet", "origin", "main");
  },
  "clone of an empty repository takes the name of the default branch": async (test) => {
    const { api, client } = test;
    await api.services.hosting.projects.create(
      { slug: "empty", name: "Empty", description: "", visibility: "public" },
      BY_OPERATOR,
    );
    const folder = client.path("empty");
    await client.git(["clone", "--quiet", `${test.origin}/projects/empty.git`, folder]);
    assert.equal(await client.git(["symbolic-ref", "HEAD"], folder), "refs/heads/trunk\n");
  },
  "a partial clone gets what it lacks": async ({ client, url }) => {
    const folder = client.path("partial");
    await client.git(["clone", "--quiet", "--no-checkout", "--filter=blob:none", url, folder]);
    assert.equal(await client.git(["show", "HEAD~1:file"], folder), "2\n");
  },
  "an unknown filter is refused": async ({ client, url }) => {
    const clone = await client.run([
      "clone",
      "--filter=sparse:oid=main:x",
      url,
      client.path("odd"),
    ]);
    assert.match(clone.stderr, /filter|sparse/i);
  },
  "fetch deepens, also relative to where it ends": async ({ client, url }) => {
    const folder = client.path("deep");
    await client.git(["clone", "--quiet", "--depth=1", url, folder]);
    const count = async () => (await client.git(["rev-list", "--count", "HEAD"], folder)).trim();
    assert.equal(await count(), "1");
    await client.git(["fetch", "--quiet", "--deepen=1"], folder);
    assert.equal(await count(), "2");
    await client.git(["fetch", "--quiet", "--unshallow"], folder);
    assert.equal(await count(), "3");
  },
  "a fetch since a time, and without what another reference has": async (
    { client, url, clone1 },
  ) => {
    await clone1.git("push", "--quiet", "origin", "HEAD~1:refs/heads/before");
    const folder = client.path("since");
    await client.git(["clone", "--quiet", "--shallow-since=2001-01-01", url, folder]);
    const other = client.path("without");
    await client.git(["clone", "--quiet", "--shallow-exclude=before", "--branch=main", url, other]);
    assert.equal((await client.git(["rev-list", "--count", "HEAD"], other)).trim(), "1");
  },
  "unexpected lines are not allowed in a request": async (test) => {
    const tip = (await test.clone1.git("rev-parse", "HEAD")).trim();
    for (
      const lines of [
        [
          "command=fetch\n",
          "object-format=sha1\n",
          "0001",
          `want ${tip}\n`,
          "this-is-not-a-command\n",
          "0000",
        ],
        ["command=absent\n", "0000"],
        ["command=fetch\n", "0001", "want nothing\n", "0000"],
        ["command=fetch\n", "0001", "done\n", "0000"],
        ["object-format=sha256\n", "command=ls-refs\n", "0000"],
        ["0000"],
      ]
    ) assert.match(await ask(test, ...lines), /ERR |^400 |^200 $/, lines.join(" "));
  },
  "a fetch of what is not there is an error that says so": async (test) => {
    const answer = await ask(
      test,
      "command=fetch\n",
      "0001",
      `want ${"1".repeat(40)}\n`,
      "done\n",
      "0000",
    );
    assert.match(answer, /ERR .*1{40}/);
  },
  "many haves that are not here are no obstacle": async (test) => {
    const tip = (await test.clone1.git("rev-parse", "HEAD")).trim();
    const haves = Array.from(
      { length: 5000 },
      (_, at) => `have ${at.toString(16).padStart(40, "a")}\n`,
    );
    const answer = await ask(test, "command=fetch\n", "0001", `want ${tip}\n`, ...haves, "0000");
    assert.match(answer, /acknowledgments\n.*NAK/s);
  },
  "several fetches in one process from a shallow repository": async ({ client, url, clone1 }) => {
    const folder = client.path("shallow");
    await client.git(["clone", "--quiet", "--depth=1", url, folder]);
    await commit(clone1, { file: "later\n" });
    await clone1.git("tag", "-a", "-m", "Later", "later");
    await clone1.git("push", "--quiet", "--follow-tags", "origin", "main");
    await client.git(["fetch", "--quiet"], folder);
    assert.match(await client.git(["tag"], folder), /later/);
  },
});
