/**
 * The tables of the contract of the coordination service, row by row, against the real program. How
 * each part behaves beyond its row is tested where that part is.
 */
import assert from "node:assert/strict";
import { call, ChannelStream, registerAgent, type Server } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { within } from "../support/until.ts";

const PASSWORD = "correct horse";

/** What a value is, in the words of the contract's tables. */
type Kind = "string" | "integer" | "boolean" | "time" | "array of string" | "object";

type Fields = Readonly<Record<string, Kind>>;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function isKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "time":
      return typeof value === "string" && TIME.test(value);
    case "integer":
      return Number.isInteger(value);
    case "array of string":
      return Array.isArray(value) && value.every((entry) => typeof entry === "string");
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
  }
}

function assertFields(value: unknown, fields: Fields, label: string): void {
  assert.ok(isKind(value, "object"), label);
  const record = value as Record<string, unknown>;
  for (const [name, kind] of Object.entries(fields)) {
    assert.ok(isKind(record[name], kind), `${label}: ${name} is ${Deno.inspect(record[name])}`);
  }
}

const AGENT: Fields = {
  nick: "string",
  type: "string",
  channels: "array of string",
  revoked: "boolean",
};
const REGISTRATION: Fields = { nick: "string", credentials: "object", server: "string" };
const MESSAGE: Fields = { nick: "string", text: "string", timestamp: "time" };
const ADMIN: Fields = { username: "string", created_at: "time" };
const BACKEND: Fields = {
  name: "string",
  provider: "string",
  base_url: "string",
  api_key_env: "string",
};
const STATUS: Fields = { status: "string", uptime: "string", agents: "integer", started: "time" };

/** What an endpoint answers: nothing, a value of a kind, an object, or an array of objects. */
type Answer = null | Kind | Fields | readonly [Fields];

/** Method, path, body, status and answer of each row of the endpoints' tables, in a fit order. */
const ENDPOINTS: readonly (readonly [string, unknown, number, Answer])[] = [
  ["GET /v1/status", undefined, 200, STATUS],
  ["GET /v1/settings", undefined, 200, { policies: "object" }],
  ["GET /v1/settings/policies", undefined, 200, "object"],
  ["PUT /v1/settings/policies", { oracle: { enabled: true } }, 200, { oracle: "object" }],
  ["POST /v1/agents/register", { nick: "coder", channels: ["dev"] }, 200, REGISTRATION],
  ["GET /v1/agents", undefined, 200, [AGENT]],
  ["GET /v1/agents/coder", undefined, 200, AGENT],
  ["POST /v1/agents/coder/rotate", undefined, 200, REGISTRATION],
  ["POST /v1/irc/accounts", { account: "ann", password: PASSWORD }, 201, "object"],
  ["POST /v1/agents/ann/adopt", undefined, 200, AGENT],
  ["POST /v1/agents/coder/revoke", undefined, 204, null],
  ["DELETE /v1/agents/coder", undefined, 204, null],
  ["POST /v1/channels/dev/join", undefined, 204, null],
  ["GET /v1/channels", undefined, 200, "array of string"],
  ["POST /v1/channels/dev/messages", { nick: "web", text: "hello" }, 204, null],
  ["GET /v1/channels/dev/messages", undefined, 200, [MESSAGE]],
  ["POST /v1/channels/dev/presence", { nick: "web" }, 204, null],
  ["GET /v1/channels/dev/users", undefined, 200, "array of string"],
  ["DELETE /v1/channels/dev", undefined, 204, null],
  ["POST /v1/admins", { username: "root", password: PASSWORD }, 201, null],
  ["GET /v1/admins", undefined, 200, [ADMIN]],
  ["PUT /v1/admins/root/password", { password: "battery staple" }, 204, null],
  ["DELETE /v1/admins/root", undefined, 204, null],
  ["POST /v1/llm/backends", aBackend("main"), 201, BACKEND],
  ["GET /v1/llm/backends", undefined, 200, [{ ...BACKEND, models: "array of string" }]],
  ["PUT /v1/llm/backends/main", { base_url: "http://127.0.0.1:9/v1" }, 200, BACKEND],
  ["DELETE /v1/llm/backends/main", undefined, 204, null],
  ["GET /v1/llm/known", undefined, 200, [{ name: "string" }]],
];

function aBackend(name: string): Record<string, string> {
  return { name, provider: "openai", base_url: "http://127.0.0.1:9", api_key_env: "" };
}

Deno.test("Endpoints: each row's request has its status and its answer", async () => {
  await using program = await startProgram();
  for (const [request, body, status, answer] of ENDPOINTS) {
    const [method = "", path = ""] = request.split(" ");
    const response = await call(program, method, path, body);
    const text = await response.text();
    assert.equal(response.status, status, `${request}\n${text}`);
    assertAnswer(text, answer, request);
  }
});

function assertAnswer(text: string, answer: Answer, label: string): void {
  if (answer === null) return assert.equal(text, "", label);
  const value: unknown = JSON.parse(text);
  if (typeof answer === "string") return assert.ok(isKind(value, answer), `${label}: ${text}`);
  if (!Array.isArray(answer)) return assertFields(value, answer as Fields, label);
  assert.ok(Array.isArray(value) && value.length > 0, `${label}: ${text}`);
  for (const entry of value) assertFields(entry, answer[0], label);
}

Deno.test("Agent: names of channels come without # and are shown with it", async () => {
  await using program = await startProgram();
  await registerAgent(program, "coder", { channels: ["dev", "ops"] });
  await registerAgent(program, "chief", { type: "orchestrator" });
  const agents = await (await call(program, "GET", "/v1/agents")).json();
  assert.deepEqual(
    agents.map(({ nick, type, channels, revoked }: Record<string, unknown>) => (
      { nick, type, channels, revoked }
    )),
    [
      { nick: "chief", type: "orchestrator", channels: [], revoked: false },
      { nick: "coder", type: "worker", channels: ["#dev", "#ops"], revoked: false },
    ],
  );
});

Deno.test("Registration result: the credentials name the nick, the server is an IRC address", async () => {
  await using program = await startProgram();
  const response = await call(program, "POST", "/v1/agents/register", { nick: "coder" });
  const { nick, credentials, server } = await response.json();
  assert.equal(nick, "coder");
  assert.deepEqual(Object.keys(credentials).sort(), ["nick", "passphrase"]);
  assert.equal(credentials.nick, "coder");
  assert.equal(server, `irc://${program.irc.hostname}:${program.irc.port}`);
});

/** Whether IRC takes a nick with a passphrase (SASL PLAIN). */
async function logsIn(program: Program, nick: string, passphrase: string): Promise<boolean> {
  await using client = await IrcClient.connect(program.irc);
  await client.send("CAP LS 302", "CAP REQ :sasl", "AUTHENTICATE PLAIN");
  await client.expect(/^AUTHENTICATE \+$/);
  await client.send(`AUTHENTICATE ${btoa(`${nick}\0${nick}\0${passphrase}`)}`);
  return / 903 /.test(await client.expect(/ 90[34] /));
}

Deno.test("States: register, rotate, revoke and delete decide who logs in to IRC", async () => {
  await using program = await startProgram();
  const { passphrase: first } = await registerAgent(program, "coder");
  assert.equal(await logsIn(program, "coder", first), true);

  const rotated = await (await call(program, "POST", "/v1/agents/coder/rotate")).json();
  const second = rotated.credentials.passphrase;
  assert.equal(await logsIn(program, "coder", first), false);
  assert.equal(await logsIn(program, "coder", second), true);

  assert.equal((await call(program, "POST", "/v1/agents/coder/revoke")).status, 204);
  assert.equal(await logsIn(program, "coder", second), false);
  const kept = await (await call(program, "GET", "/v1/agents/coder")).json();
  assert.equal(kept.revoked, true);

  assert.equal((await call(program, "DELETE", "/v1/agents/coder")).status, 204);
  const gone = await call(program, "GET", "/v1/agents/coder");
  assert.equal(gone.status, 404);
  await gone.body?.cancel();

  await discard(call(program, "POST", "/v1/irc/accounts", { account: "ann", password: PASSWORD }));
  await discard(call(program, "POST", "/v1/agents/ann/adopt"));
  const adopted = await (await call(program, "GET", "/v1/agents/ann")).json();
  assert.equal(adopted.revoked, false);
  assert.equal(await logsIn(program, "ann", PASSWORD), true);
});

async function discard(answer: Promise<Response>): Promise<void> {
  await (await answer).body?.cancel();
}

/** Method, path, body and status of requests that each row of the errors' table is about. */
const ERRORS: readonly (readonly [string, unknown, number])[] = [
  ["POST /v1/channels/dev/presence", {}, 400],
  ["POST /v1/agents/register", {}, 400],
  ["POST /login", { username: "admin", password: "not it, I fear" }, 401],
  ["GET /v1/agents/nobody", undefined, 404],
  ["POST /v1/agents/register", { nick: "taken" }, 409],
  ["POST /v1/admins", { username: "admin", password: PASSWORD }, 409],
];

Deno.test("Errors: each row's status comes with a body of one field", async () => {
  await using program = await startProgram();
  await registerAgent(program, "taken");
  for (const [request, body, status] of ERRORS) {
    const [method = "", path = ""] = request.split(" ");
    await assertError(await call(program, method, path, body), status, request);
  }
  const stranger: Server = { api: program.api, token: "wrong" };
  await assertError(await call(stranger, "GET", "/v1/status"), 401, "a wrong token");
  await assertError(await fetch(`${program.api}/v1/status`), 401, "no token");
});

async function assertError(response: Response, status: number, label: string): Promise<void> {
  const body = await response.json();
  assert.equal(response.status, status, label);
  assert.deepEqual(Object.keys(body), ["error"], label);
  assert.equal(typeof body.error, "string", label);
}

Deno.test("Limits: the eleventh login within 15 minutes from one address is 429", async () => {
  await using program = await startProgram();
  const logIn = (attempt: number) =>
    call(program, "POST", "/login", { username: `nobody-${attempt}`, password: PASSWORD });
  for (let attempt = 1; attempt <= 10; attempt++) {
    await assertError(await logIn(attempt), 401, `attempt ${attempt}`);
  }
  const refused = await logIn(11);
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
  await assertError(refused, 429, "attempt 11");
});

Deno.test("Limits: get_history gives 20 messages of those that are kept", async () => {
  await using program = await startProgram();
  await postLines(program, 25);
  assert.equal((await generalMessages(program)).length, 25);
  const { result } = await rpc(program, "tools/call", {
    name: "get_history",
    arguments: { channel: "#general" },
  });
  const lines = result.content[0].text.split("\n");
  assert.equal(lines[0], "# history: #general (last 20)");
  assert.equal(lines.length, 21);
});

for (const persist of [false, true]) {
  const where = persist ? "outlive a restart" : "are held in memory only";
  Deno.test(`Limits: with irc.history.persist ${persist}, messages ${where}`, async () => {
    await withFolder(async (folder) => {
      const environment = { MUSTER_IRC_HISTORY_PERSIST: String(persist) };
      const first = await startProgram({ folder, environment });
      await postLines(first, 3);
      const kept = await generalMessages(first);
      assert.equal(kept.length, 3);
      await first.stop();
      await using second = await startProgram({ folder, environment });
      assert.deepEqual(await generalMessages(second), persist ? kept : []);
    });
  });
}

async function postLines(program: Program, count: number): Promise<void> {
  const text = Array.from({ length: count }, (_, index) => `line ${index}`).join("\n");
  await discard(call(program, "POST", "/v1/channels/general/messages", { text }));
}

async function generalMessages(program: Program): Promise<unknown[]> {
  return await (await call(program, "GET", "/v1/channels/general/messages")).json();
}

Deno.test("Events: an event is an id and one data line with only nick, text and timestamp", async () => {
  await using program = await startProgram();
  const response = await fetch(
    `${program.api}/v1/channels/general/stream?token=${program.token}`,
    { headers: { accept: "text/event-stream" } },
  );
  assert.equal(response.status, 200);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  await discard(
    call(program, "POST", "/v1/channels/general/messages", { nick: "web", text: "hello" }),
  );
  let event = "";
  while (!event.endsWith("\n\n")) {
    const part = await within(Promise.resolve(reader?.read()), () => "A whole event");
    assert.equal(part?.done, false, event);
    event += part?.value;
  }
  const [, id, data = ""] = /^id: (\S+)\ndata: (.+)\n\n$/.exec(event) ?? [];
  const message = JSON.parse(data);
  assert.deepEqual(Object.keys(message).sort(), ["nick", "text", "timestamp"]);
  assert.deepEqual([message.nick, message.text], ["web", "hello"]);
  assert.match(message.timestamp, TIME);
  const [kept] = await (await call(program, "GET", "/v1/channels/general/messages")).json();
  assert.equal(id, kept.id);
  await reader?.cancel();
  const refused = await fetch(`${program.api}/v1/channels/general/stream?token=wrong`);
  await assertError(refused, 401, "a wrong token");
});

/** Whether a channel exists on IRC. */
async function exists(client: IrcClient, channel: string): Promise<boolean> {
  const before = client.lines.length;
  await client.send(`LIST ${channel}`);
  await client.expect(/ 323 /);
  return client.lines.slice(before).some((line) => / 322 /.test(line));
}

Deno.test("Channels: a channel that the bridge parts closes with its last user", async () => {
  await using program = await startProgram();
  await using client = await IrcClient.connect(program.irc);
  await client.register({ nick: "guest" });
  await discard(call(program, "POST", "/v1/channels/dev/join"));
  assert.equal(await exists(client, "#dev"), true);
  await discard(call(program, "DELETE", "/v1/channels/dev"));
  assert.equal(await exists(client, "#dev"), false);
});

/** Calls a method of the MCP endpoint. */
async function rpc({ mcp, token }: Program, method: string, params: unknown) {
  const response = await fetch(mcp, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return await response.json();
}

Deno.test("MCP: initialize returns the versions, and each error has its code", async () => {
  await using program = await startProgram();
  const { result, id } = await rpc(program, "initialize", {});
  assert.equal(id, 1);
  assert.deepEqual(result, {
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    serverInfo: { name: "muster", version: "0.1" },
  });
  const code = async (method: string, params: unknown) =>
    (await rpc(program, method, params)).error.code;
  assert.equal(await code("no/such", {}), -32601);
  assert.equal(await code("tools/call", { name: "no_such_tool", arguments: {} }), -32602);
  assert.equal((await rpc({ ...program, token: "wrong" }, "ping", {})).error.code, -32001);
  const headers = { authorization: `Bearer ${program.token}` };
  const broken = await fetch(program.mcp, { method: "POST", headers, body: "{" });
  assert.equal((await broken.json()).error.code, -32700);
  const { result: missing } = await rpc(program, "tools/call", {
    name: "send_message",
    arguments: { channel: "#general" },
  });
  assert.equal(missing.isError, true);
  assert.equal(missing.content[0].type, "text");
});

Deno.test("MCP: each tool's text has the form of its row", async () => {
  await using program = await startProgram();
  const text = async (name: string, input: unknown): Promise<string> => {
    const { result } = await rpc(program, "tools/call", { name, arguments: input });
    assert.equal(result.isError, false, result.content[0].text);
    return result.content[0].text;
  };
  assert.match(
    await text("register_agent", { nick: "coder" }),
    /^Agent registered: coder\nnick: coder\npassword: \S+$/,
  );
  assert.equal(await text("get_status", {}), "status: ok\nagents: 1 active, 1 total");
  assert.equal(await text("list_channels", {}), "#general (1 members)");
  const sent = { channel: "#general", type: "task.create", payload: { id: 7 } };
  assert.equal(await text("send_message", sent), "message sent to #general");
  assert.match(
    await text("get_history", { channel: "#general" }),
    /^# history: #general \(last 1\)\n\[#general\] <bridge> type=task\.create id=\S+$/,
  );
  await using client = await IrcClient.connect(program.irc);
  await client.register({ nick: "guest" });
  await client.join("#talk");
  await client.send("TOPIC #talk :plans");
  await client.expect(/ TOPIC #talk /);
  await using _stream = await ChannelStream.open(program, "talk");
  assert.match(await text("list_channels", {}), /^#talk \(2 members\) — plans$/m);
});
