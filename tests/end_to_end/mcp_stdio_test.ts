import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { call, registerAgent } from "../support/api.ts";
import { stdioLaunch } from "../support/foreign_mcp.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { StdioMcp } from "../support/stdio.ts";
import { withFolder } from "../support/temporary.ts";

/** Free ports for a server in the folder of `muster mcp`. */
const FREE_PORTS = {
  MUSTER_API_ADDR: "127.0.0.1:0",
  MUSTER_MCP_ADDR: "127.0.0.1:0",
  MUSTER_IRC_LISTEN: "127.0.0.1:0",
};

Deno.test("without a server, muster mcp runs the services of the data folder and listens nowhere", async () => {
  await withFolder(async (folder) => {
    await using mcp = new StdioMcp({ folder });
    const { result } = await mcp.initialize("2025-06-18");
    assert.equal(result?.protocolVersion, "2025-06-18");
    assert.match(await mcp.call("get_status"), /^status: ok/);
    const registered = await mcp.call("register_agent", { nick: "scout", channels: ["#general"] });
    assert.match(registered, /^Agent registered: scout$/m);
    await mcp.call("post", { channel: "#general", text: "hello" });
    assert.match(await mcp.call("get_history", { channel: "#general" }), /hello/);
    assert.deepEqual(await mcp.end(), { code: 0, stderr: "" });
  });
});

Deno.test("what muster mcp wrote without a server is there for the server that starts later", async () => {
  await withFolder(async (folder) => {
    await using mcp = new StdioMcp({ folder });
    await mcp.call("register_agent", { nick: "scout", channels: ["#general"] });
    const refused = await runMuster(["serve"], { folder, environment: FREE_PORTS });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /is in use by another muster\. If that is "muster mcp", end the/);
    await mcp.call("post", { channel: "#general", text: "the server could not start" });
    assert.equal((await mcp.end()).code, 0);
    await using program = await startProgram({ folder });
    const agents: { nick: string }[] = await (await call(program, "GET", "/v1/agents")).json();
    assert.deepEqual(agents.map(({ nick }) => nick), ["scout"]);
  });
});

Deno.test("a second muster mcp without a server says what to do, and works once the first has ended", async () => {
  await withFolder(async (folder) => {
    await using first = new StdioMcp({ folder });
    await first.initialize();
    await using second = new StdioMcp({ folder });
    await second.initialize();
    const { result } = await second.request("tools/call", { name: "get_status" });
    assert.match(result?.content?.[0]?.text ?? "", /does not run here now.*Tell your user/);
    assert.equal((await first.end()).code, 0);
    assert.match(await second.call("get_status"), /^status: ok/, "It works on alone");
    const refused = await runMuster(["serve"], { folder, environment: FREE_PORTS });
    assert.equal(refused.code, 1, "There is never a second writer");
    const { code, stderr } = await second.end();
    assert.equal(code, 0);
    assert.match(stderr, /^No server runs on .* Run "muster serve".* end that client first\n$/);
  });
});

Deno.test("muster mcp finds a server that has started again elsewhere", async () => {
  const first = await startProgram();
  const { folder } = first;
  await using mcp = new StdioMcp({ folder });
  await mcp.initialize();
  await first.stop();
  const pending = mcp.request("tools/call", { name: "get_status" });
  await using _second = await startProgram({ folder });
  // It waits for five seconds, which a loaded machine may need for the start.
  const { result } = await pending;
  const text = result?.content?.[0]?.text ?? "";
  if (result?.isError === true) assert.match(text, /does not answer at .*nothing was done/);
  assert.match(await mcp.call("get_status"), /^status: ok/);
});

Deno.test("a wrong configuration ends muster mcp with code 2 and nothing on standard output", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "config.yaml"), "nonsense: true\n");
    const { code, stdout, stderr } = await runMuster(["mcp"], { folder });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /nonsense/);
  });
  await withFolder(async (folder) => {
    const { code, stdout } = await runMuster(["mcp", "--url", "nowhere"], { folder });
    assert.deepEqual([code, stdout], [2, ""]);
  });
});

async function forwards(program: Program): Promise<void> {
  await registerAgent(program, "scout", { channels: ["general"] });
  const request = { owner: "scout", name: "stdio", scopes: ["read", "write"] };
  const made = await call(program, "POST", "/v1/tokens", request);
  const { token }: { token: string } = await made.json();
  const { folder } = program;
  await using mcp = new StdioMcp({ folder, environment: { MUSTER_TOKEN: token } });
  const { result } = await mcp.initialize();
  assert.match(result?.instructions ?? "", /You are the agent "scout"/);
  await using few = new StdioMcp({
    folder,
    args: ["--tools", "publish"],
    environment: { MUSTER_TOKEN: token },
  });
  await few.initialize();
  const listed = (await few.request("tools/list")).result?.tools ?? [];
  assert.ok(!listed.some(({ name }) => name === "post"));
  await few.call("post", { channel: "#general", text: "not listed" });
  await few.end();
  await mcp.call("post", { channel: "#general", text: "from stdio" });
  const read = await call(program, "GET", "/v1/channels/general/messages");
  const messages: { nick: string; text: string }[] = await read.json();
  assert.deepEqual([messages.at(-1)?.nick, messages.at(-1)?.text], ["scout", "from stdio"]);
  await using operator = new StdioMcp({ folder });
  await operator.call("register_agent", { nick: "other" });
  await Promise.all([mcp.end(), operator.end()]);

  await program.stop();
  await using alone = new StdioMcp({ folder, environment: { MUSTER_TOKEN: token } });
  const opened = await alone.initialize();
  assert.match(opened.result?.instructions ?? "", /You are the agent "scout"/);
}

async function takesBothUrls(program: Program): Promise<void> {
  await withFolder(async (folder) => {
    const environment = { MUSTER_TOKEN: program.token };
    for (const url of [program.api, program.mcp]) {
      await using mcp = new StdioMcp({ folder, args: ["--url", url], environment });
      assert.match(await mcp.call("get_status"), /^status: ok/);
    }
    const inEnvironment = { ...environment, MUSTER_URL: program.api };
    await using mcp = new StdioMcp({ folder, environment: inEnvironment });
    await mcp.initialize();
    assert.match(await mcp.call("get_status"), /^status: ok/);
    await mcp.end();
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
    assert.deepEqual(names, ["cache"], "Nothing is written where no server is, but the cache");
    assert.equal(Array.from(Deno.readDirSync(join(folder, "cache", "muster", "mcp"))).length, 1);
  });
}

async function refusesAWrongToken(program: Program): Promise<void> {
  await withFolder(async (folder) => {
    const wrong = { MUSTER_URL: program.api, MUSTER_TOKEN: "a".repeat(40) };
    await using stranger = new StdioMcp({ folder, environment: wrong });
    const refused = await stranger.request("tools/list");
    assert.equal(refused.error?.code, -32001);
    assert.match(refused.error?.message ?? "", /refuses this client's token.*Tell your user/);
    assert.doesNotMatch(refused.error?.message ?? "", /MUSTER_TOKEN|token add/);
    const { code, stderr } = await stranger.end();
    assert.equal(code, 0);
    assert.match(stderr, /^The token is not valid\. Set MUSTER_TOKEN to a valid token: .*\n$/);
  });
}

async function answersEachLine(program: Program): Promise<void> {
  await using mcp = new StdioMcp({ folder: program.folder });
  const unreadable = mcp.answerTo(null);
  await mcp.send("no JSON");
  assert.equal((await unreadable).error?.code, -32700);
  await mcp.initialize();
  const unknown = await mcp.request("no/such/method");
  assert.equal(unknown.error?.code, -32601);
  await mcp.request("tools/call", { name: "post", arguments: { channel: "#x", text: "one" } });

  const { result } = await mcp.request("tools/call", {
    name: "get_history",
    arguments: { channel: "#x" },
  });
  const since = JSON.parse(result?.content?.[1]?.text ?? "").next_since;
  const wait = {
    name: "get_history",
    arguments: { channel: "#x", since, wait_seconds: 60 },
  };
  // It gets no answer.
  await mcp.send({ jsonrpc: "2.0", id: "cancelled", method: "tools/call", params: wait });
  const params = { requestId: "cancelled", reason: "The user changed their mind" };
  await mcp.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  const late = mcp.request("tools/call", wait, "late");
  const posted = { name: "post", arguments: { channel: "#x", text: "two" } };
  await mcp.request("tools/call", posted);
  assert.match((await late).result?.content?.[0]?.text ?? "", /two/);
  assert.equal((await mcp.end()).code, 0);
  assert.ok(mcp.lines.every((line) => !line.includes('"id":"cancelled"')));
}

async function tellsOfChanges(program: Program): Promise<void> {
  await registerAgent(program, "builder", { channels: ["general"] });
  const request = { owner: "builder", name: "stdio", scopes: ["read", "write"] };
  const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
  const client = new Client({ name: "test", version: "1" }, {
    versionNegotiation: { mode: "legacy" },
  });
  await client.connect(new StdioClientTransport(stdioLaunch(program, token)));
  assert.deepEqual(client.getServerCapabilities()?.tools, { listChanged: true });
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  assert.ok(!(await names()).includes("claim_ticket"));
  const changes = [
    ["POST", "/v1/projects", { slug: "demo" }, true],
    ["PUT", "/v1/projects/demo/members/builder", { role: "write" }, true],
    ["DELETE", "/v1/projects/demo/members/builder", undefined, false],
  ] as const;
  for (const [method, path, body, isMember] of changes) {
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler("notifications/tools/list_changed", () => changed.resolve());
    assert.ok((await call(program, method, path, body)).ok, path);
    if (path === "/v1/projects") continue;
    await client.callTool({ name: "get_status" });
    await changed.promise;
    assert.equal((await names()).includes("claim_ticket"), isMember);
  }
  await client.close();
}

/** In this order: the last one ends the program. */
const STEPS = [
  ["muster mcp --url takes the address of the API and that of the tools", takesBothUrls],
  ["a wrong token tells the agent and the person what each can do", refusesAWrongToken],
  ["lines that are no messages, batches, cancelled calls and late answers", answersEachLine],
  ["a client that runs muster mcp is told when the caller's tools change", tellsOfChanges],
  ["muster mcp forwards to the server of the data folder, as the agent of MUSTER_TOKEN", forwards],
] as const;

Deno.test("muster mcp beside a server", async (test) => {
  await using program = await startProgram();
  for (const [name, run] of STEPS) await test.step(name, () => run(program));
});
