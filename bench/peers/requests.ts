import { type Address, HttpClient, type HttpRequest } from "../client/mod.ts";
import { measure } from "../process_usage.ts";
import type { Scenario, Sizes } from "../scenarios/mod.ts";
import { type CoordinationServer, joinBridge, registerAgents, startFloor } from "../servers/mod.ts";
import { type Contestant, coordinationRow, type Values } from "./row.ts";

/** Kept connections; each sends its next request after the response. */
const CONNECTIONS = 64;

const CHANNEL = "bench";

const MESSAGES_PATH = `/v1/channels/${CHANNEL}/messages`;

/** The posted message: 80 bytes of text. */
const POSTED = { nick: "bench", text: "x".repeat(80) };

/** Messages in the channel that is read. */
const READ_MESSAGES = 20;

const AGENTS = 100;

/** A repeated request, and the check of its response. */
interface Exchange {
  readonly address: Address;
  readonly request: HttpRequest;
  readonly status: number;
  isRight(body: string): boolean;
}

/** Requests that muster and its peers answer. */
export const REQUEST_ROWS: readonly Scenario[] = [
  requestRow(
    { name: "status", title: "GET /v1/status", aim: 55, more: [floorOf()] },
    ({ api, token }) =>
      Promise.resolve({
        address: api,
        request: { method: "GET", path: "/v1/status", token },
        status: 200,
        isRight: (body) => JSON.parse(body).status === "ok",
      }),
  ),
  requestRow(
    { name: "messages", title: `GET messages (${READ_MESSAGES})`, aim: 55 },
    async (server) => {
      const { api, token } = server;
      const address = api;
      await joinBridge(server, CHANNEL);
      using client = await HttpClient.open(address);
      const post = HttpClient.format({ method: "POST", path: MESSAGES_PATH, token, body: POSTED });
      for (let index = 0; index < READ_MESSAGES; index++) await client.ask(post);
      return {
        address,
        request: { method: "GET", path: MESSAGES_PATH, token },
        status: 200,
        isRight: (body) => body.split(POSTED.text).length === READ_MESSAGES + 1,
      };
    },
  ),
  requestRow(
    { name: "agents", title: `GET /v1/agents (${AGENTS})`, aim: 200 },
    async (server) => {
      const { api, token } = server;
      await registerAgents(server, Array.from({ length: AGENTS }, (_, index) => `agent${index}`));
      return {
        address: api,
        request: { method: "GET", path: "/v1/agents", token },
        status: 200,
        isRight: (body) => body.split('"nick":"agent').length === AGENTS + 1,
      };
    },
  ),
  requestRow({ name: "post", title: "POST message", aim: 150 }, async (server) => {
    const { api, token } = server;
    await joinBridge(server, CHANNEL);
    return {
      address: api,
      request: { method: "POST", path: MESSAGES_PATH, token, body: POSTED },
      status: 204,
      isRight: (body) => body === "",
    };
  }),
  toolRow({ name: "mcp-status", aim: 70 }, "get_status", {}),
  toolRow({ name: "mcp-send", aim: 180 }, "send_message", {
    channel: `#${CHANNEL}`,
    type: "task.update",
    payload: { done: true },
  }),
];

/** A row of calls of an MCP tool, as clients without a session make them. */
function toolRow(
  row: { readonly name: string; readonly aim: number },
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Scenario {
  return requestRow({ ...row, title: `MCP ${tool}` }, async (server) => {
    await joinBridge(server, CHANNEL);
    return {
      address: server.mcp,
      request: { method: "POST", path: "/mcp", token: server.token, body: toolCall(tool, input) },
      status: 200,
      isRight: isToolResult,
    };
  });
}

/** The body of a call of an MCP tool. */
export function toolCall(name: string, input: Readonly<Record<string, unknown>>): unknown {
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } };
}

/** Whether a response is the result of a successful tool. */
export function isToolResult(body: string): boolean {
  const { result } = JSON.parse(body);
  return result !== undefined && result.isError !== true;
}

function requestRow(
  row: {
    readonly name: string;
    readonly title: string;
    readonly aim: number;
    readonly more?: readonly Contestant<"cpu">[];
  },
  prepare: (server: CoordinationServer) => Promise<Exchange>,
): Scenario {
  const { name, title, aim, more = [] } = row;
  return coordinationRow<"cpu">({
    name,
    more,
    columns: [{ key: "cpu", name: title, unit: "µs", aim }],
    describe: ({ seconds }) => `${CONNECTIONS} kept connections for ${seconds} s, CPU per request`,
    on: async (server, sizes) => {
      const exchange = await prepare(server);
      return () => ask(server.pids, exchange, sizes);
    },
  });
}

/** The bare runtime, which gives the same response without reading the request. */
function floorOf(): Contestant<"cpu"> {
  return {
    name: "Deno.serve",
    prepare: async (sizes, open) => {
      const server = open.use(await startFloor());
      const exchange: Exchange = {
        address: server.api,
        request: { method: "GET", path: "/v1/status" },
        status: 200,
        isRight: (body) => JSON.parse(body).status === "ok",
      };
      return () => ask(server.pids, exchange, sizes);
    },
  };
}

/**
 * Sends requests on every connection until the time is over. Checks one whole response first, and
 * then the status of each.
 *
 * @throws Error if a response is wrong
 */
async function ask(
  pids: readonly number[],
  { address, request, status, isRight }: Exchange,
  { seconds }: Sizes,
): Promise<Values<"cpu">> {
  await using open = new AsyncDisposableStack();
  const clients: HttpClient[] = [];
  for (let index = 0; index < CONNECTIONS; index++) {
    clients.push(open.use(await HttpClient.open(address)));
  }
  const text = HttpClient.format(request);
  const first = await clients[0]?.ask(text, true);
  if (first?.status !== status || !isRight(first.text)) {
    throw new Error(`${first?.status} ${first?.text.slice(0, 200)}`);
  }
  const { result: answers, serverSeconds } = await measure(pids, async () => {
    const end = performance.now() + seconds * 1000;
    const counts = await Promise.all(clients.map(async (client) => {
      let count = 0;
      while (performance.now() < end) {
        const answer = await client.ask(text);
        if (answer.status !== status) throw new Error(`An answer had the status ${answer.status}`);
        count++;
      }
      return count;
    }));
    return counts.reduce((sum, count) => sum + count, 0);
  });
  return { cpu: serverSeconds * 1e6 / answers };
}
