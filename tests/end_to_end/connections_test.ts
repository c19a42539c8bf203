import assert from "node:assert/strict";
import { IrcClient } from "../support/irc_client.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import { RawConnection } from "../support/raw_connection.ts";
import { asked, within } from "../support/until.ts";

/** Few, so that a test can use them up; the program has about 40 open from the start. */
const OPEN_FILES = 256;

/** Short, and long enough for a client that the machine holds up for a moment. */
const SHORT_TIMES = {
  MUSTER_LIMITS_HEADER_SECONDS: "4",
  MUSTER_LIMITS_IDLE_SECONDS: "4",
};

/** URLs of every port that listens. */
function portsOf({ api, mcp, irc }: Program): string[] {
  return [api, mcp, `irc://${irc.hostname}:${irc.port}`];
}

/** Connects to every port of a program, many times, and says nothing. */
async function connectToAll(program: Program, times: number): Promise<DisposableStack> {
  using opened = new DisposableStack();
  for (const url of portsOf(program)) {
    for (let count = 0; count < times; count++) opened.use(await RawConnection.open(url));
  }
  return opened.move();
}

/**
 * Asks API, MCP and IRC with a credential, each on a connection of its own. From its source tree, the
 * program loads files for the first of these requests; the runtime remembers those that it could not
 * open as missing.
 */
async function assertServes(program: Program, nick: string): Promise<void> {
  const { mcp, irc, token } = program;
  const headers = { authorization: `Bearer ${token}` };
  assert.ok(await metric(program, "muster_http_connections") > 0);
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const tools = await fetch(mcp, { method: "POST", headers, body });
  assert.equal(tools.status, 200);
  await tools.body?.cancel();
  await using client = await IrcClient.connect(irc);
  await client.send(`NICK ${nick}`, `USER ${nick} 0 * :${nick}`);
  await client.expect(/ 001 /);
}

async function metric({ api, token }: Program, name: string): Promise<number> {
  const response = await fetch(`${api}/v1/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const line = (await response.text()).split("\n").find((text) => text.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}

/** Sets how many files a running program may have open; its hard limit stays. */
async function limitOpenFiles({ pid }: Program, soft: number): Promise<void> {
  const command = new Deno.Command("prlimit", {
    args: [`--pid=${pid}`, `--nofile=${soft}:${OPEN_FILES}`],
  });
  assert.ok((await command.output()).success);
}

Deno.test("strangers with more connections than fit keep nobody else out", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using program = await startProgram({ openFiles: OPEN_FILES });
  await assertServes(program, "before");
  const lowered = program.logged(/The limit on open files is reached; accepting fewer/);
  using _strangers = await connectToAll(program, 2 * OPEN_FILES);
  await lowered;
  await assertServes(program, "first");
  using _more = await connectToAll(program, OPEN_FILES);
  await assertServes(program, "second");
  assert.ok(await metric(program, "muster_http_connections") < OPEN_FILES);
});

Deno.test("a connection with a valid credential survives a crowd of strangers", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using program = await startProgram({ openFiles: OPEN_FILES });
  const { api, token, irc } = program;
  const headers = { authorization: `Bearer ${token}` };
  const stream = await fetch(`${api}/v1/channels/general/stream`, { headers });
  const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  await using client = await IrcClient.connect(irc);
  await client.send("NICK guest", "USER guest 0 * :guest", "JOIN #general");
  await client.expect(/ 366 /);
  using _strangers = await connectToAll(program, 2 * OPEN_FILES);
  await client.send("PRIVMSG #general :still here");
  for (let text = ""; !text.includes("still here");) {
    const part = await within(Promise.resolve(events?.read()), () => "More of the stream");
    assert.equal(part?.done, false);
    text += part?.value;
  }
  await events?.cancel();
});

Deno.test("a program that runs out of file descriptors recovers when some are free again", {
  ...peer("prlimit"),
}, async () => {
  await using program = await startProgram({ openFiles: OPEN_FILES });
  await assertServes(program, "before");
  const failed = Promise.all(["http", "irc"].map((listener) => {
    return program.logged(new RegExp(`could not be accepted.*"listener":"${listener}"`));
  }));
  // The limit is on numbers of descriptors, and the program has the first three.
  await limitOpenFiles(program, 3);
  {
    using _strangers = await connectToAll(program, 20);
    await failed;
    await limitOpenFiles(program, OPEN_FILES);
  }
  await assertServes(program, "after");
  assert.ok(await metric(program, "muster_http_accept_failures_total") > 0);
  assert.ok(await metric(program, "muster_irc_accept_failures_total") > 0);
});

Deno.test("a program that has no file descriptors for another thread refuses what needs one", {
  ...peer("prlimit"),
}, async () => {
  await using program = await startProgram({ openFiles: OPEN_FILES });
  const headers = { authorization: `Bearer ${program.token}` };
  const body = '{"slug": "open", "visibility": "public"}';
  const made = await fetch(`${program.api}/v1/projects`, { method: "POST", headers, body });
  assert.equal(made.status, 201);
  await made.body?.cancel();
  await assertServes(program, "before");
  using connection = await RawConnection.open(program.api);
  const ask = async (line: string, body = "") => {
    const length = `content-length: ${body.length}`;
    await connection.send(`${line} HTTP/1.1\r\nhost: 127.0.0.1\r\n${length}\r\n\r\n${body}`);
    return await connection.until(/\r\n\r\n\{[^]*\}\s*$/);
  };
  assert.match(await ask("POST /login", "{}"), /"error"/);
  assert.match(await ask("GET /search"), /"error"/);
  await limitOpenFiles(program, 3);
  const login = await ask("POST /login", '{"username": "admin", "password": "wrong"}');
  assert.match(login, / 503 [^]*"error"/);
  assert.match(await ask("GET /search?q=word"), /"unsearched":\["open"\]/);
  await limitOpenFiles(program, OPEN_FILES);
  // On a busy machine, a thread may need longer to start than a search has for a project.
  await asked(() => ask("GET /search?q=word"), (answer) => answer.includes('"unsearched":[]'));
  await assertServes(program, "after");
});

Deno.test("connections with half a request or none are closed; a stream is not", async () => {
  await using program = await startProgram({ environment: SHORT_TIMES });
  const { api, mcp, token } = program;
  const headers = { authorization: `Bearer ${token}` };
  const stream = await fetch(`${api}/v1/channels/general/stream`, { headers });
  const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  await Promise.all([api, mcp].map(async (url) => {
    using silent = await RawConnection.open(url);
    using half = await RawConnection.open(url);
    await half.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Half:");
    using idle = await RawConnection.open(url);
    await idle.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await idle.until(/\r\n\r\n/);
    using again = await RawConnection.open(url);
    await again.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he");
    assert.equal(await silent.untilClosed(), "");
    assert.equal(await half.untilClosed(), "");
    await idle.untilClosed();
    assert.match(await again.untilClosed(), /^HTTP\/1\.1 \d+/);
  }));
  const text = JSON.stringify({ nick: "someone", text: "a late message" });
  const posted = await fetch(`${api}/v1/channels/general/messages`, {
    method: "POST",
    headers,
    body: text,
  });
  assert.equal(posted.status, 204);
  for (let read = ""; !read.includes("a late message");) {
    const part = await within(Promise.resolve(events?.read()), () => "More of the stream");
    assert.equal(part?.done, false);
    read += part?.value;
  }
  await events?.cancel();
});

Deno.test("a body that arrives too slowly is answered 408, and its connection closes", async () => {
  const environment = { MUSTER_LIMITS_BODY_SECONDS: "1.5", MUSTER_LIMITS_IDLE_SECONDS: "4" };
  await using program = await startProgram({ environment });
  const { api, mcp, token } = program;
  const requests = [
    [api, "POST /v1/agents/register HTTP/1.1", "Content-Length: 20", '{"nick":'],
    [api, "POST /v1/agents/register HTTP/1.1", "Content-Length: 100000", '{"nick":'],
    [api, "POST /v1/agents/register HTTP/1.1", "Transfer-Encoding: chunked", '8\r\n{"nick":\r\n'],
    [api, "POST /login HTTP/1.1", "Content-Length: 20", '{"username":'],
    [mcp, "POST /mcp HTTP/1.1", "Content-Length: 20", '{"jsonrpc"'],
  ] as const;
  await Promise.all(requests.map(async ([url, line, length, begin]) => {
    using client = await RawConnection.open(url);
    const authorization = `Authorization: Bearer ${token}`;
    await client.send([line, "Host: localhost", authorization, length, "", begin].join("\r\n"));
    assert.match(await client.untilClosed(), /^HTTP\/1\.1 408 /, `${line}, ${length}`);
  }));
});

Deno.test("guests on IRC leave room for accounts", async () => {
  const environment = { MUSTER_IRC_LIMITS_CONNECTIONS: "16" };
  await using program = await startProgram({ environment });
  const { api, irc, token } = program;
  const registered = await fetch(`${api}/v1/agents/register`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ nick: "worker" }),
  });
  const { credentials } = await registered.json();
  await using opened = new AsyncDisposableStack();
  for (let count = 0; count < 12; count++) {
    const guest = opened.use(await IrcClient.connect(irc));
    await guest.register({ nick: `guest${count}` });
  }
  const refused = opened.use(await IrcClient.connect(irc));
  await refused.send("NICK other", "USER other 0 * :other");
  await refused.expect(/ FAIL \* ACCOUNT_REQUIRED :There are too many guests/);
  for (let count = 0; count < 16; count++) {
    const silent = opened.use(await IrcClient.connect(irc));
    await silent.send("NICK silent");
  }
  const worker = opened.use(await IrcClient.connect(irc));
  await worker.register({ nick: "worker", password: credentials.passphrase });
});
