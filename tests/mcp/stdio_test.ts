/** `serveStdio` with a server that is a function. */
import assert from "node:assert/strict";
import { type OutgoingMessage, ServerAway, serveStdio } from "../../mcp/stdio/mod.ts";
import { TOOLS_MARK } from "../../mcp/tools_mark.ts";
import { FORGETFUL } from "../support/stdio.ts";

const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';

/** A client that writes one `initialize`, and reads lines. */
class Client {
  readonly #input = Promise.withResolvers<void>();
  readonly #revision: string;
  readonly lines: string[] = [];
  onLine: () => void = () => {};

  constructor(revision: string) {
    this.#revision = revision;
  }

  async *input() {
    const params = { protocolVersion: this.#revision };
    const message = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    yield new TextEncoder().encode(`${JSON.stringify(message)}\n`);
    await this.#input.promise;
  }

  end(): void {
    this.#input.resolve();
  }

  write = (line: string): Promise<void> => {
    this.lines.push(line);
    this.onLine();
    return Promise.resolve();
  };
}

/** The answer of a server whose caller has a set of tools. */
function answer(body: string, revision: string, mark: string): Response {
  const { id } = JSON.parse(body);
  const headers = { [TOOLS_MARK]: mark };
  if (id === undefined) return new Response(null, { status: 202, headers });
  const result = { protocolVersion: revision, capabilities: { tools: {} } };
  return Response.json({ jsonrpc: "2.0", id, result }, { headers });
}

Deno.test("a client that calls nothing is told when its tools have changed", async () => {
  const client = new Client("2025-11-25");
  let mark = "one";
  client.onLine = () => {
    if (client.lines.at(-1) === CHANGED) client.end();
    mark = "two";
  };
  await serveStdio({
    ...FORGETFUL,
    input: client.input(),
    write: client.write,
    deliver: ({ headers, body }) => {
      assert.ok(headers.has(TOOLS_MARK));
      return Promise.resolve(answer(body, "2025-11-25", mark));
    },
    watchInterval: 1,
  });
  const [opened = "", ...others] = client.lines;
  assert.deepEqual(JSON.parse(opened).result.capabilities, { tools: { listChanged: true } });
  assert.deepEqual(others, [CHANGED]);
});

Deno.test("a client of the oldest revision gets what the contract fixes, and no notification", async () => {
  const client = new Client("2024-11-05");
  let asked = 0;
  client.onLine = () => client.end();
  await serveStdio({
    ...FORGETFUL,
    input: client.input(),
    write: client.write,
    deliver: ({ body }) => Promise.resolve(answer(body, "2024-11-05", String(asked++))),
    watchInterval: 1,
  });
  assert.equal(client.lines.length, 1);
  assert.deepEqual(JSON.parse(client.lines[0] ?? "").result.capabilities, { tools: {} });
});

Deno.test("a call waits for a server that may just start again, whatever missed it first", async () => {
  const client = new Client("2025-11-25");
  const waiting = new Map<string, boolean>();
  const messages = async function* () {
    yield* client.input();
    for (const message of [{ method: "notifications/initialized" }, { id: 2, method: "x" }]) {
      yield new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      await missed.promise;
    }
  };
  const missed = Promise.withResolvers<void>();
  client.onLine = () => client.end();
  await serveStdio({
    ...FORGETFUL,
    input: messages(),
    write: client.write,
    deliver: ({ body, waits }: OutgoingMessage) => {
      const { method } = JSON.parse(body);
      if (!waiting.has(method)) waiting.set(method, waits);
      if (method !== "notifications/initialized") {
        return Promise.resolve(answer(body, "2025-11-25", "one"));
      }
      missed.resolve();
      return Promise.reject(new ServerAway("broke off", { remedy: "none" }));
    },
  });
  assert.equal(client.lines.length, 2);
  assert.equal(waiting.get("x"), true);
});

Deno.test("the headers of the stateless revision name what a message names", async () => {
  const named = [
    ["tools/call", { name: "get_status" }, "get_status"],
    ["prompts/get", { name: "shift" }, "shift"],
    ["resources/read", { uri: "muster://demo" }, "muster://demo"],
    ["tasks/get", { taskId: "t" }, "t"],
    ["tasks/update", { taskId: "t", inputResponses: {} }, "t"],
    ["tasks/cancel", { taskId: "t" }, "t"],
    ["tools/list", {}, null],
  ] as const;
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  const messages = named.map(([method, params], id) => ({
    jsonrpc: "2.0",
    id,
    method,
    params: { ...params, _meta },
  }));
  const lines = messages.map((message) => new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  const names = new Map<string, string | null>();
  await serveStdio({
    ...FORGETFUL,
    input: ReadableStream.from(lines),
    write: () => Promise.resolve(),
    deliver: ({ headers, body }) => {
      names.set(headers.get("Mcp-Method") ?? "", headers.get("Mcp-Name"));
      return Promise.resolve(answer(body, "2026-07-28", "one"));
    },
  });
  assert.deepEqual(names, new Map(named.map(([method, , name]) => [method, name])));
});

Deno.test("cancelled calls make room for the next ones, however many wait", async () => {
  const calls = Array.from({ length: 80 }, (_, index) => `wait-${index}`);
  const cancel = (requestId: string) => ({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId },
  });
  const messages = [
    ...calls.map((id) => ({ jsonrpc: "2.0", id, method: "tools/call" })),
    ...calls.map(cancel),
    { jsonrpc: "2.0", id: "last", method: "ping" },
  ];
  const lines: string[] = [];
  let [running, most] = [0, 0];
  await serveStdio({
    ...FORGETFUL,
    input: ReadableStream.from(
      messages.map((message) => new TextEncoder().encode(`${JSON.stringify(message)}\n`)),
    ),
    write: (line) => {
      lines.push(line);
      return Promise.resolve();
    },
    deliver: async ({ body, signal }) => {
      const { id } = JSON.parse(body);
      if (id === "last") return Response.json({ jsonrpc: "2.0", id, result: {} });
      most = Math.max(most, ++running);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      running--;
      return Response.json({ jsonrpc: "2.0", id, result: { content: [], isError: true } });
    },
  });
  assert.deepEqual(lines.map((line) => JSON.parse(line).id), ["last"]);
  assert.deepEqual([running, most], [0, 64]);
});
