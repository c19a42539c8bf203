/** `muster mcp` while the server is away: before it starts, and between two starts. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { call, registerAgent } from "../support/api.ts";
import { stdioLaunch } from "../support/foreign_mcp.ts";
import { type Program, startProgram } from "../support/program.ts";
import { StdioMcp } from "../support/stdio.ts";
import { withFolder } from "../support/temporary.ts";

/** The parameters of a client of the stateless revision. */
const STATELESS = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  },
};

const CHANGED = "notifications/tools/list_changed";

/** What only a person can do, and no agent may be told. */
const FOR_PEOPLE = /muster serve|MUSTER_|--url|token add/;

async function tokenOf(program: Program, nick: string): Promise<string> {
  await registerAgent(program, nick);
  const request = { owner: nick, name: "stdio", scopes: ["read", "write"] };
  const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
  return token;
}

/** Starts the server again where it was. */
function startAgain({ folder, api, mcp }: Program): Promise<Program> {
  const environment = { MUSTER_API_ADDR: new URL(api).host, MUSTER_MCP_ADDR: new URL(mcp).host };
  return startProgram({ folder, environment });
}

function startClient({ folder, mcp }: Program, token: string): StdioMcp {
  return new StdioMcp({ folder, environment: { MUSTER_URL: mcp, MUSTER_TOKEN: token } });
}

async function toolsOf(mcp: StdioMcp): Promise<readonly string[]> {
  const { result } = await mcp.request("tools/list");
  return (result?.tools ?? []).map(({ name }) => name);
}

/** The text of a call that must fail, as a result that a model reads. */
async function failedCall(mcp: StdioMcp): Promise<string> {
  const { result, error } = await mcp.request("tools/call", { name: "get_status" });
  assert.equal(error, undefined);
  assert.equal(result?.isError, true);
  return result?.content?.[0]?.text ?? "";
}

async function isPrivate(folder: string, tokens: readonly string[]): Promise<void> {
  const cache = join(folder, "cache", "muster", "mcp");
  assert.equal(Deno.statSync(cache).mode! & 0o777, 0o700);
  for await (const { name } of Deno.readDir(cache)) {
    const path = join(cache, name);
    assert.equal(Deno.statSync(path).mode! & 0o777, 0o600);
    const text = name + Deno.readTextFileSync(path);
    for (const token of tokens) assert.ok(!text.includes(token));
  }
}

Deno.test("muster mcp starts before the server, and sessions outlast it", async () => {
  const first = await startProgram();
  const [scout, builder, tester] = [
    await tokenOf(first, "scout"),
    await tokenOf(first, "builder"),
    await tokenOf(first, "tester"),
  ];
  await call(first, "POST", "/v1/projects", { slug: "demo" });
  await call(first, "PUT", "/v1/projects/demo/members/scout", { role: "write" });
  await using before = startClient(first, scout);
  const known = (await before.initialize()).result;
  const tools = await toolsOf(before);
  const { result: prompts } = await before.request("prompts/list");
  // As a client does that looks for a newer revision, and then uses an older one.
  assert.ok((await before.request("server/discover", STATELESS)).result);
  assert.ok(tools.includes("start_work") && prompts !== undefined);
  await before.end();
  await first.stop("SIGKILL");

  await using session = startClient(first, scout);
  await using stranger = startClient(first, builder);
  const sdk = new Client({ name: "test", version: "1" }, {
    versionNegotiation: { mode: "legacy" },
  });
  const sdkTold = Promise.withResolvers<void>();
  sdk.setNotificationHandler(CHANGED, () => sdkTold.resolve());
  const [{ result: same }, { result: least }] = await Promise.all([
    session.initialize(),
    stranger.initialize(),
    sdk.connect(new StdioClientTransport({ ...stdioLaunch(first, tester), stderr: "ignore" })),
  ]);
  assert.deepEqual(same, known);
  assert.deepEqual(await toolsOf(session), tools);
  assert.deepEqual((await session.request("prompts/list")).result, prompts);
  assert.ok((await session.request("ping")).result);
  // It would ask for the tools of that revision next, which nobody remembers.
  assert.ok((await session.request("server/discover", STATELESS)).error);
  const failure = await failedCall(session);
  assert.match(failure, /does not answer at .*nothing was done\. Tell your user, go on with work/);
  assert.doesNotMatch(failure, FOR_PEOPLE);
  assert.deepEqual(least?.capabilities, { tools: { listChanged: true } });
  assert.match(least?.instructions ?? "", /Its tools appear once it does/);
  assert.deepEqual(await toolsOf(stranger), []);
  assert.deepEqual((await sdk.listTools()).tools, []);
  assert.equal((await sdk.callTool({ name: "get_status" })).isError, true);

  const told = [session.told(CHANGED), stranger.told(CHANGED), sdkTold.promise];
  const second = await startAgain(first);
  await Promise.all(told);
  assert.deepEqual(await toolsOf(session), tools);
  assert.ok((await toolsOf(stranger)).includes("read_inbox"));
  assert.ok((await sdk.listTools()).tools.some(({ name }) => name === "read_inbox"));
  assert.notEqual((await sdk.callTool({ name: "get_status" })).isError, true);
  await sdk.close();
  assert.match(await session.call("get_status"), /^status: ok/);

  await second.stop("SIGKILL");
  assert.doesNotMatch(await failedCall(session), FOR_PEOPLE);
  assert.deepEqual(await toolsOf(session), tools);
  await using _third = await startAgain(first);
  assert.match(await session.call("get_status"), /^status: ok/);
  assert.match((await session.end()).stderr, /Start it with "muster serve"/);
  await isPrivate(first.folder, [scout, builder, tester]);
});

/** A server in this process, of which a test says how it answers. */
class FakeServer implements AsyncDisposable {
  readonly #listener: Deno.HttpServer<Deno.NetAddr>;
  answer: (message: { readonly id?: number; readonly method: string }) => Promise<Response>;

  constructor(answer: FakeServer["answer"]) {
    this.answer = answer;
    this.#listener = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      async (request) => await this.answer(await request.json()),
    );
  }

  client(folder: string): StdioMcp {
    const url = `http://127.0.0.1:${this.#listener.addr.port}`;
    return new StdioMcp({ folder, environment: { MUSTER_URL: url, MUSTER_TOKEN: "a".repeat(40) } });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#listener.shutdown();
  }
}

const answersAs: FakeServer["answer"] = ({ id, method }) => {
  const headers = { "Muster-Tools": "one" };
  if (id === undefined) return Promise.resolve(new Response(null, { status: 202, headers }));
  const result = method === "initialize"
    ? { protocolVersion: "2025-11-25", capabilities: { tools: {} }, instructions: "known" }
    : { tools: [{ name: "known_tool" }] };
  return Promise.resolve(Response.json({ jsonrpc: "2.0", id, result }, { headers }));
};

const isAway: FakeServer["answer"] = () =>
  Promise.resolve(new Response("Bad Gateway", { status: 502 }));

Deno.test("a proxy without its server, and a server that says nothing, count as away", async () => {
  await withFolder(async (folder) => {
    await using proxy = new FakeServer(isAway);
    const silence = Promise.withResolvers<Response>();
    await using silent = new FakeServer(() => silence.promise);
    await using behindProxy = proxy.client(folder);
    await using waiting = silent.client(folder);
    const opened = waiting.initialize();
    await behindProxy.initialize();
    assert.deepEqual(await toolsOf(behindProxy), []);
    assert.match(await failedCall(behindProxy), /broke off.*look before you repeat it/);
    const told = behindProxy.told(CHANGED);
    proxy.answer = answersAs;
    await told;
    assert.deepEqual(await toolsOf(behindProxy), ["known_tool"]);
    assert.match((await opened).result?.instructions ?? "", /Its tools appear once it does/);
    silence.resolve(new Response());
  });
});

Deno.test("the cache keeps a bounded number of files, and one that is damaged counts as none", async () => {
  await withFolder(async (folder) => {
    const cache = join(folder, "cache", "muster", "mcp");
    Deno.mkdirSync(cache, { recursive: true });
    for (let index = 0; index < 100; index++) {
      const path = join(cache, `${index}.json`);
      Deno.writeTextFileSync(path, "{}");
      Deno.utimeSync(path, index, index);
    }
    await using server = new FakeServer(answersAs);
    const start = async () => {
      await using mcp = server.client(folder);
      const { result } = await mcp.initialize();
      return [result?.instructions, ...await toolsOf(mcp)];
    };
    assert.deepEqual(await start(), ["known", "known_tool"]);
    const files = Array.from(Deno.readDirSync(cache), ({ name }) => name);
    assert.equal(files.length, 64);
    assert.ok(files.includes("99.json") && !files.includes("0.json"));
    server.answer = isAway;
    assert.deepEqual(await start(), ["known", "known_tool"]);
    const [own = ""] = files.filter((name) => !/^\d{1,2}\.json$/.test(name));
    Deno.writeTextFileSync(join(cache, own), '{"initialize 2025-11-25":');
    assert.equal((await start()).length, 1);
  });
});
