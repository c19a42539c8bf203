/** Pushes that are compressed, cut, stopped or too much. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { markPacket, textPacket } from "../../../../services/engines/git/mod.ts";
import { commit, gitTest } from "../../../support/git_pushes.ts";
import { type GitTest, withGit } from "../../../support/git_door.ts";
import { peer } from "../../../support/peers.ts";
import { rawBlob, rawCommit, rawPack, rawTree } from "../../../support/raw_pushes.ts";
import { commitFiles } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import type { TokenRequest } from "../../../../services/people/identity/mod.ts";

const FILE = 0o100644;

/** The body of a push of one commit to a new branch. */
function bodyOf(branch: string, content: string | Uint8Array = branch): Buffer {
  const blob = rawBlob(content);
  const tree = rawTree([["a", FILE, blob]]);
  const tip = rawCommit(tree);
  const line = `${"0".repeat(40)} ${tip.hex} refs/heads/${branch}\0report-status\n`;
  return Buffer.concat([textPacket(line), markPacket("flush"), rawPack([blob, tree, tip])]);
}

function send(
  { bareUrl, url }: GitTest,
  body: Uint8Array | ReadableStream<Uint8Array<ArrayBuffer>>,
  { headers = {}, signal }: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Response> {
  const { username, password } = new URL(url);
  return fetch(`${bareUrl}/git-receive-pack`, {
    method: "POST",
    headers: {
      authorization: `Basic ${btoa(`${username}:${password}`)}`,
      "content-type": "application/x-git-receive-pack-request",
      ...headers,
    },
    body: body instanceof Uint8Array ? Uint8Array.from(body) : body,
    ...signal === undefined ? {} : { signal },
  });
}

/** A body in chunks of some bytes each. */
function chunked(body: Uint8Array, bytes: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(Uint8Array.from(body.subarray(at, at += bytes)));
      if (at >= body.length) controller.close();
    },
  });
}

async function branches({ client, url }: GitTest): Promise<string> {
  return await client.git(["ls-remote", "--heads", url]);
}

gitTest("a push may be compressed, and come in chunks of any length", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const gzip = { headers: { "content-encoding": "gzip" } };
  const answers = [
    await send(test, chunked(bodyOf("one"), 1)),
    await send(test, chunked(bodyOf("two"), 100)),
    await send(test, gzipSync(bodyOf("three")), gzip),
    await send(test, chunked(gzipSync(bodyOf("four")), 7), gzip),
  ];
  for (const answer of answers) assert.match(await answer.text(), /unpack ok\n.*ok refs\/heads/);
  const found = await branches(test);
  for (const name of ["one", "two", "three", "four"]) {
    assert.match(found, new RegExp(`heads/${name}\n`));
  }
});

gitTest("a push that is cut, or is not what it says, leaves nothing", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const body = bodyOf("eve", "x\n".repeat(50_000));
  const before = await branches(test);
  for (const length of [0, 3, 4, 60, body.length - 21]) {
    const answer = await send(test, body.subarray(0, length));
    const text = await answer.text();
    assert.doesNotMatch(text, /unpack ok/, `${length}: ${text}`);
  }
  const gzip = { headers: { "content-encoding": "gzip" } };
  assert.equal((await send(test, body, gzip)).status, 400);
  assert.equal((await send(test, gzipSync(body).subarray(0, -20), gzip)).status, 400);
  const odd = await send(test, body, { headers: { "content-encoding": "br" } });
  assert.match(await odd.text(), /compressed with gzip/);
  const other = await send(test, body, { headers: { "content-type": "text/plain" } });
  assert.match(await other.text(), /bodies of type/);
  assert.equal(await branches(test), before);
  const { folder } = test.api.services.hosting.repositories.files;
  const left = [...Deno.readDirSync(folder)].filter(({ name }) => name.startsWith("."));
  assert.deepEqual(left.filter(({ name }) => name !== ".uploads"), []);
});

gitTest("a client that goes away in the middle leaves nothing", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const before = await branches(test);
  const body = bodyOf("eve", "x\n".repeat(50_000));
  const gone = new AbortController();
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      controller.enqueue(Uint8Array.from(body.subarray(0, 100)));
      gone.abort(new Error("gone"));
    },
  });
  await assert.rejects(send(test, stream, { signal: gone.signal }), /gone/);
  assert.equal(await branches(test), before);
});

gitTest("a push that comes too slowly ends, and keeps nobody waiting meanwhile", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const body = bodyOf("slow");
  const { hostname, port, pathname, username, password } = new URL(test.url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const writer = connection.writable.getWriter();
  await writer.write(Buffer.from([
    `POST ${pathname}/git-receive-pack HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `Authorization: Basic ${btoa(`${username}:${password}`)}`,
    "Content-Type: application/x-git-receive-pack-request",
    `Content-Length: ${body.length}`,
    "",
    "",
  ].join("\r\n")));
  await writer.write(body.subarray(0, 100));
  for (const name of ["one", "two"]) {
    const answer = await send(test, chunked(bodyOf(name), 1));
    assert.match(await answer.text(), new RegExp(`ok refs/heads/${name}`));
  }
  test.api.services.clock.advance(10 * 60_000);
  await writer.write(body.subarray(100, 101));
  const { value } = await connection.readable.getReader().read();
  assert.match(Buffer.from(value!).toString(), /^HTTP\/1.1 408 /);
  assert.doesNotMatch(await branches(test), /slow/);
});

gitTest("a push that is refused while it comes is told why", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "noise.bin": crypto.getRandomValues(new Uint8Array(60_000)) });
  const large = new Uint8Array(20 * 1024 * 1024);
  for (let at = 0; at < large.length; at += 65_536) {
    crypto.getRandomValues(large.subarray(at, at + 65_536));
  }
  await commit(clone, { "large.bin": large });
  Object.defineProperty(test.api.services.space, "isShort", { value: true });
  const push = await clone.run("push", "origin", "trunk");
  assert.match(push.stderr, /remote: The disk of the server is nearly full/, push.stderr);
  assert.match(push.stderr, /! \[remote rejected\] trunk -> trunk/);
});

Deno.test({
  name: "a push that is too large is told the bound",
  ...peer("git"),
  fn: () =>
    withGit(async (test) => {
      await commitFiles(test, { "a.txt": "a\n" });
      const clone = await test.clone();
      const noise = crypto.getRandomValues(new Uint8Array(60_000));
      for (let part = 0; part < 25; part++) {
        await commit(clone, { [`${part}.bin`]: Uint8Array.from(noise, (byte) => byte ^ part) });
      }
      const push = await clone.run("push", "origin", "trunk");
      assert.match(push.stderr, /remote: The file is larger than 1048576 bytes/, push.stderr);
      assert.match(push.stderr, /! \[remote rejected\] trunk -> trunk/);
    }, { config: { limits: { sync_bytes: 1_048_576 } } }),
});

gitTest("a compressed push that unfolds without an end is refused", async (test) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const answer = await send(test, bomb, { headers: { "content-encoding": "gzip" } });
  assert.doesNotMatch(await answer.text(), /unpack ok/);
});

gitTest(
  "nobody pushes to an archived project, with a token that reads, or while halted",
  async (test) => {
    await commitFiles(test, { "a.txt": "a\n" });
    const { api, client } = test;
    const clone = await test.clone();
    await commit(clone, { "b.txt": "b\n" });
    await api.answer("POST /v1/halt", { agents: ["caller"] });
    const halted = await clone.run("push", "origin", "trunk");
    assert.match(halted.stderr, /halt/i, halted.stderr);
    await api.answer("DELETE /v1/halt?agents=caller");
    const scopes: TokenRequest["scopes"] = ["read"];
    const request = { owner: "caller", name: "reader", scopes, project: null, expires_at: null };
    const { token } = await api.services.tokens.create(request, BY_OPERATOR);
    const reader = new URL(test.url);
    reader.password = token;
    const read = await client.run(["push", String(reader), "trunk"], clone.folder);
    assert.match(read.stderr, /403|write/, read.stderr);
    await clone.git("push", "--quiet", "origin", "trunk");
    await api.answer("PATCH /v1/projects/demo", { archived: true });
    await commit(clone, { "c.txt": "c\n" });
    const archived = await clone.run("push", "origin", "trunk");
    assert.notEqual(archived.code, 0);
    assert.match(archived.stderr, /archived|not authorized|403/, archived.stderr);
  },
);

Deno.test({
  name: "a push into a full project is refused with a sentence",
  ...peer("git"),
  fn: () =>
    withGit(async (test) => {
      await commitFiles(test, { "a.txt": "a\n" });
      const clone = await test.clone();
      const noise = crypto.getRandomValues(new Uint8Array(60_000));
      for (let part = 0; part < 10; part++) {
        await commit(clone, { [`${part}.bin`]: Uint8Array.from(noise, (byte) => byte ^ part) });
      }
      const push = await clone.run("push", "origin", "trunk");
      assert.match(push.stderr, /remote: The project "demo" has \d+ bytes of \d+/, push.stderr);
      assert.match(push.stderr, /! \[remote rejected\] trunk -> trunk/);
    }, { config: { limits: { project_bytes: 600_000 } } }),
});

gitTest(
  "a forced push that only takes commits away is the next state of a workspace",
  async (test) => {
    await commitFiles(test, { "a.txt": "a\n" });
    const clone = await test.clone();
    const first = await commit(clone, { "b.txt": "1\n" }, "One");
    const second = await commit(clone, { "b.txt": "2\n" }, "Two");
    await clone.git("push", "--quiet", "origin", "HEAD:refs/for/trunk/topic");
    await clone.git("reset", "--quiet", "--hard", "HEAD^");
    await clone.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/workspace/topic");
    assert.match(await branches(test), new RegExp(`${first}\trefs/heads/workspace/topic`));
    const review = await test.answer("GET /api/reviews/1");
    const view = await test.answer("GET /api/workspaces/topic");
    assert.equal(view.status, "active");
    assert.equal(view.commits_made, 1);
    assert.equal(review.rounds.length, 2, JSON.stringify(review.rounds));
    await clone.git("reset", "--quiet", "--hard", "origin/trunk");
    const empty = await clone.run("push", "--force", "origin", "HEAD:refs/heads/workspace/topic");
    assert.match(empty.stderr, /nothing of it is left/);
    await clone.git("reset", "--quiet", "--hard", first);
    const fresh = await test.clone();
    await fresh.git("fetch", "--quiet", "origin", second);
    const third = await commit(clone, { "c.txt": "3\n" }, "Three");
    await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/workspace/topic");
    assert.match(await branches(test), new RegExp(`${third}\trefs/heads/workspace/topic`));
  },
);

gitTest("a branch that catches up with another one takes nothing from it", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/copy");
  const tip = await commit(clone, { "b.txt": "1\n" }, "On the main branch");
  await clone.git("push", "--quiet", "origin", "trunk");
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/copy");
  const { checkins: [newest] } = await test.answer("GET /api/timeline");
  assert.equal(newest.comment, "On the main branch");
  assert.equal(newest.branch, "trunk");
  const found = await branches(test);
  for (const name of ["copy", "trunk"]) {
    assert.match(found, new RegExp(`${tip}\trefs/heads/${name}`));
  }
  const next = await commit(clone, { "c.txt": "1\n" }, "On the copy");
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/copy");
  assert.match(await branches(test), new RegExp(`${next}\trefs/heads/copy`));
  assert.match(await branches(test), new RegExp(`${tip}\trefs/heads/trunk`));
});

gitTest("branches may have the names of those that the server makes", async (test) => {
  const clone = await test.clone();
  await clone.git("checkout", "--quiet", "-b", "main");
  await commit(clone, { "a.txt": "a\n" }, "First");
  for (const name of ["initial", "rewound", "trunk-2", "Main"]) {
    await clone.git("checkout", "--quiet", "-b", name);
    await commit(clone, { "name.txt": `${name}\n` }, `On ${name}`);
  }
  await clone.git("push", "--quiet", "--all", "origin");
  const mine = await commit(clone, { "b.txt": "1\n" }, "One");
  await commit(clone, { "b.txt": "2\n" }, "Two");
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/workspace/mine");
  await clone.git("reset", "--quiet", "--hard", mine);
  await clone.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/workspace/mine");
  const tip = await commit(clone, { "c.txt": "1\n" }, "After");
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/rewound");
  const found = await branches(test);
  assert.match(found, new RegExp(`${tip}\trefs/heads/rewound`));
  assert.match(found, new RegExp(`${mine}\trefs/heads/workspace/mine`));
  for (const name of ["initial", "trunk-2", "Main", "main"]) {
    const expected = (await clone.git("rev-parse", `refs/remotes/origin/${name}`)).trim();
    assert.match(found, new RegExp(`${expected}\trefs/heads/${name}\n`));
  }
});

gitTest("a push to another address of the project is told the right one", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "b\n" });
  const push = async (place: string) => {
    const address = test.url.replace("/projects/demo.git", place);
    const { code, stderr } = await clone.run("push", address, "trunk");
    assert.match(stderr, /\/projects\/demo\.git/, stderr);
    return code;
  };
  assert.notEqual(await push("/projects/demo/fossil"), 0);
  // Git follows it there.
  assert.equal(await push("/projects/demo"), 0);
});
