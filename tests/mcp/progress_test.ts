import assert from "node:assert/strict";
import { newFixture, post, rpc } from "./support.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  progressToken: "mine",
};

const BOTH = "application/json, text/event-stream";

/** Waits for news of a channel, which come once it waits. */
async function wait(accept: string, seconds: number): Promise<Response> {
  const { handler, bridge } = newFixture();
  bridge.onWaiting = () => bridge.say("ann", "news");
  const input = { channel: "general", wait_seconds: seconds };
  const params = { name: "get_history", arguments: input, _meta: META };
  const headers = {
    accept,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "get_history",
  };
  return await handler(post("reader", rpc("tools/call", params), { headers }), "127.0.0.1");
}

Deno.test("a client that asks for progress hears that a call waits, and then its answer", async () => {
  const response = await wait(BOTH, 30);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const messages = (await response.text()).split("\n").flatMap((line) =>
    line.startsWith("data: ") ? [JSON.parse(line.slice("data: ".length))] : []
  );
  assert.equal(messages.length, 2);
  const [told, answer] = messages;
  assert.equal(told.method, "notifications/progress");
  assert.deepEqual(told.params, { progressToken: "mine", progress: 0, total: 30 });
  assert.match(answer.result.content[0].text, /news/);
});

for (
  const [name, accept, seconds] of [
    ["that takes no stream", "application/json", 30],
    ["whose call does not wait", BOTH, 0],
  ] as const
) {
  Deno.test(`a client ${name} gets the answer alone`, async () => {
    const response = await wait(accept, seconds);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal((await response.json()).result.isError, false);
  });
}
