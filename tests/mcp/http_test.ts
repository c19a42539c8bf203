import assert from "node:assert/strict";
import { instructionsFor } from "../../mcp/mod.ts";
import { inContractWords } from "../../mcp/names.ts";
import { OPERATOR } from "../../services/people/identity/mod.ts";
import { errorCode, newFixture, post, result, rpc, shapeOf } from "./support.ts";

const ID = /^[0-9a-f-]{36}$/;
const SERVER_INFO = { name: "muster", version: "0.1" };
const TOLD = {
  protocolVersion: "2024-11-05",
  capabilities: { tools: {} },
  serverInfo: SERVER_INFO,
};
const STATUS_TEXT = { type: "text", text: "status: ok\nagents: 2 active, 3 total" };
const SERVER_META = { "io.modelcontextprotocol/serverInfo": SERVER_INFO };
const INSTRUCTIONS = inContractWords(instructionsFor(OPERATOR));
const CLIENT_INFO = { name: "test", version: "1" };
const STATELESS_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function statelessHeaders(method: string): Record<string, string> {
  return { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
}

interface Scenario {
  readonly name: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  readonly status: number;
  /** The answer; `null` for none. A string stands for the code of a JSON-RPC error and its id. */
  readonly answer: unknown;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: "a form of curl -d",
    body: rpc("ping"),
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "*/*" },
    status: 200,
    answer: result({}),
  },
  {
    name: "JSON without event streams accepted",
    body: rpc("ping"),
    headers: { "content-type": "application/json", accept: "application/json" },
    status: 200,
    answer: result({}),
  },
  {
    name: "ping with no params and a string id",
    body: rpc("ping", undefined, "a"),
    status: 200,
    answer: result({}, "a"),
  },
  {
    name: "initialize with params {}",
    body: rpc("initialize", {}),
    status: 200,
    answer: result(TOLD),
  },
  { name: "initialize without params", body: rpc("initialize"), status: 200, answer: result(TOLD) },
  {
    name: "initialize of the oldest revision",
    body: rpc("initialize", { protocolVersion: "2024-11-05", clientInfo: CLIENT_INFO }),
    status: 200,
    answer: result(TOLD),
  },
  ...["2025-03-26", "2025-06-18", "2025-11-25"].map((protocolVersion): Scenario => ({
    name: `initialize of ${protocolVersion}`,
    body: rpc("initialize", {
      protocolVersion,
      capabilities: { roots: {} },
      clientInfo: CLIENT_INFO,
    }),
    status: 200,
    answer: result({ ...TOLD, protocolVersion, instructions: INSTRUCTIONS }),
  })),
  ...["2099-01-01", "2024-10-07", ""].map((protocolVersion): Scenario => ({
    name: `initialize of ${JSON.stringify(protocolVersion)}`,
    body: rpc("initialize", { protocolVersion }),
    status: 200,
    answer: result({ ...TOLD, protocolVersion: "2025-11-25", instructions: INSTRUCTIONS }),
  })),
  ...[5, null].map((protocolVersion): Scenario => ({
    name: `initialize of ${JSON.stringify(protocolVersion)}`,
    body: rpc("initialize", { protocolVersion }),
    status: 200,
    answer: result(TOLD),
  })),
  ...["tools/list", "prompts/list", "resources/list", "resources/templates/list"].flatMap((
    method,
  ) =>
    [null, 5, "no-such-page", {}].map((cursor): Scenario => ({
      name: `${method} with the cursor ${JSON.stringify(cursor)}`,
      body: rpc(method, { cursor }),
      headers: { "mcp-protocol-version": "2025-11-25" },
      status: 200,
      answer: errorCode(-32602),
    }))
  ),
  {
    name: "tools/list of a revision that is none",
    body: rpc("tools/list", { cursor: undefined }),
    headers: { "mcp-protocol-version": "2099-01-01" },
    status: 400,
    answer: errorCode(-32000),
  },
  {
    name: "a request of a revision that is none",
    body: rpc("ping"),
    headers: { "mcp-protocol-version": "2025-01-01" },
    status: 400,
    answer: errorCode(-32000),
  },
  {
    name: "null for the arguments of a tool",
    body: rpc("tools/call", { name: "get_status", arguments: null }),
    status: 200,
    answer: result({ content: [STATUS_TEXT], isError: false }),
  },
  {
    name: "null for the arguments of a tool, of the stateless revision",
    body: rpc("tools/call", { name: "get_status", arguments: null, _meta: STATELESS_META }),
    headers: { ...statelessHeaders("tools/call"), "mcp-name": "get_status" },
    status: 200,
    answer: result({
      content: [STATUS_TEXT],
      structuredContent: { status: "ok", agents: { active: 2, total: 3 } },
      isError: false,
      resultType: "complete",
      _meta: SERVER_META,
    }),
  },
  {
    name: "initialize under the header of the stateless revision",
    body: rpc("initialize", { protocolVersion: "2026-07-28" }),
    headers: statelessHeaders("initialize"),
    status: 200,
    answer: result({ ...TOLD, protocolVersion: "2025-11-25", instructions: INSTRUCTIONS }),
  },
  {
    name: "initialize, which the stateless revision does not have",
    body: rpc("initialize", { _meta: STATELESS_META }),
    headers: statelessHeaders("initialize"),
    status: 404,
    answer: errorCode(-32601),
  },
  {
    name: "a notification",
    body: { jsonrpc: "2.0", method: "notifications/initialized" },
    status: 202,
    answer: null,
  },
  {
    name: "an unknown notification",
    body: { jsonrpc: "2.0", method: "notifications/none" },
    status: 202,
    answer: null,
  },
  {
    name: "an answer to nothing",
    body: { jsonrpc: "2.0", id: 7, result: {} },
    status: 202,
    answer: null,
  },
  {
    name: "an unknown method",
    body: rpc("resources/list"),
    status: 200,
    answer: errorCode(-32601),
  },
  { name: "a made-up method", body: rpc("no/such"), status: 200, answer: errorCode(-32601) },
  {
    name: "server/discover without a revision",
    body: rpc("server/discover"),
    status: 200,
    answer: errorCode(-32601),
  },
  { name: "no JSON", body: "{", status: 400, answer: errorCode(-32700, null) },
  { name: "no body", body: "", status: 400, answer: errorCode(-32700, null) },
  { name: "JSON that is no message", body: 5, status: 400, answer: errorCode(-32600, null) },
  { name: "JSON null", body: "null", status: 400, answer: errorCode(-32600, null) },
  {
    name: "another JSON-RPC",
    body: { jsonrpc: "1.0", id: 1, method: "ping" },
    status: 400,
    answer: errorCode(-32600, 1),
  },
  {
    name: "an unknown tool",
    body: rpc("tools/call", { name: "no_tool" }),
    status: 200,
    answer: errorCode(-32602),
  },
  {
    name: "tools/call without params",
    body: rpc("tools/call"),
    status: 200,
    answer: errorCode(-32602),
  },
  {
    name: "tools/call without a name",
    body: rpc("tools/call", { arguments: {} }),
    status: 200,
    answer: errorCode(-32602),
  },
  {
    name: "tools/call with params that are a list",
    body: rpc("tools/call", ["get_status"]),
    status: 200,
    answer: errorCode(-32602),
  },
  {
    name: "params null",
    body: rpc("ping", null),
    status: 200,
    answer: result({}),
  },
  {
    name: "initialize that is no JSON-RPC 2.0",
    body: { id: 1, method: "initialize" },
    status: 400,
    answer: errorCode(-32600, 1),
  },
  {
    name: "tools/call with arguments that are no object",
    body: rpc("tools/call", { name: "get_status", arguments: "all" }),
    status: 200,
    answer: errorCode(-32602),
  },
  {
    name: "a batch",
    body: [
      rpc("ping", {}, 1),
      { jsonrpc: "2.0", method: "notifications/x" },
      rpc("no/such", {}, "b"),
    ],
    status: 200,
    answer: [result({}), errorCode(-32601, "b")],
  },
  { name: "a batch of one", body: [rpc("ping")], status: 200, answer: [result({})] },
  {
    name: "a batch whose requests share an id",
    body: [rpc("ping"), rpc("ping")],
    status: 200,
    answer: [result({}), result({})],
  },
  {
    name: "a batch that cancels its own request",
    body: [rpc("ping"), {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1 },
    }],
    status: 200,
    answer: [result({})],
  },
  {
    name: "a batch of notifications",
    body: [{ jsonrpc: "2.0", method: "notifications/x" }],
    status: 202,
    answer: null,
  },
  { name: "an empty batch", body: [], status: 400, answer: errorCode(-32600, null) },
  {
    name: "a batch with a stray",
    body: [rpc("ping"), 5],
    status: 400,
    answer: errorCode(-32600, null),
  },
  {
    name: "a batch over the limit",
    body: new Array(101).fill(rpc("ping")),
    status: 400,
    answer: errorCode(-32600, null),
  },
  {
    name: "server/discover of the stateless revision",
    body: rpc("server/discover", { _meta: STATELESS_META }),
    headers: statelessHeaders("server/discover"),
    status: 200,
    answer: result({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
      instructions: INSTRUCTIONS,
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      _meta: SERVER_META,
    }),
  },
  {
    name: "an unknown method of the stateless revision",
    body: rpc("no/such", { _meta: STATELESS_META }),
    headers: statelessHeaders("no/such"),
    status: 404,
    answer: errorCode(-32601),
  },
  {
    name: "a subscription, of which there is none",
    body: rpc("subscriptions/listen", {
      _meta: STATELESS_META,
      notifications: { toolsListChanged: true },
    }),
    headers: statelessHeaders("subscriptions/listen"),
    status: 404,
    answer: errorCode(-32601),
  },
  {
    name: "a set of tools that does not exist",
    body: rpc("tools/list"),
    headers: { "muster-tool-sets": "works" },
    status: 400,
    answer: errorCode(-32600),
  },
  {
    name: "a header that contradicts the body",
    body: rpc("tools/list", { _meta: STATELESS_META }),
    headers: statelessHeaders("tools/call"),
    status: 400,
    answer: errorCode(-32020),
  },
  {
    name: "a revision that does not exist",
    body: rpc("tools/list", {
      _meta: { ...STATELESS_META, "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
    }),
    headers: { "mcp-method": "tools/list" },
    status: 400,
    answer: errorCode(-32022),
  },
];

for (const { name, body, headers, status, answer } of SCENARIOS) {
  Deno.test(`POST /mcp answers ${name}`, async () => {
    const { handler } = newFixture();
    const init = headers === undefined ? {} : { headers };
    const response = await handler(post("operator", body, init), "127.0.0.1");
    const text = await response.text();
    assert.equal(response.status, status, text);
    assert.deepEqual(text === "" ? null : shapeOf(JSON.parse(text)), answer);
    assert.match(response.headers.get("x-request-id") ?? "", ID);
    if (text !== "") assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
  });
}

Deno.test("the error for an unknown tool suggests one that the caller may call", async () => {
  const { handler } = newFixture();
  const stateless = { headers: { ...statelessHeaders("tools/call"), "mcp-name": "get_stattus" } };
  const plain = rpc("tools/call", { name: "get_stattus" });
  const newer = rpc("tools/call", { name: "get_stattus", _meta: STATELESS_META });
  for (const request of [post("operator", plain), post("operator", newer, stateless)]) {
    const { error } = await (await handler(request, "127.0.0.1")).json();
    assert.equal(error.message, 'There is no tool "get_stattus"; did you mean "get_status"?');
  }
});

Deno.test("what is prepared for the first call is neither counted nor logged, and asks for no credential", async () => {
  const { handler, metrics, logged, addresses } = newFixture();
  await handler.prepare();
  assert.deepEqual([metrics.calls, metrics.requests, logged, addresses], [[], [], [], []]);
});
