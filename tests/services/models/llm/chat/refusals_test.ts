/** Requests that a provider's format cannot say. */
import assert from "node:assert/strict";
import { answer, withBackend } from "../support/gateway.ts";
import { FakeProvider } from "../support/provider.ts";

Deno.test("a request that a provider's format cannot express is the caller's error, and nothing is sent", async () => {
  await using provider = new FakeProvider(() => Response.json({}));
  const table: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ["anthropic", { messages: [{ role: "wizard", content: "x" }] }, /messages\[0\]\.role/],
    ["anthropic", { messages: [{ role: "user", content: 7 }] }, /messages\[0\]\.content/],
    ["anthropic", { n: 2 }, /"n"/],
    ["anthropic", { model: "main/../../v1/files" }, /"model"/],
    ["gemini", { messages: [{ role: "tool", tool_call_id: "c0", content: "x" }] }, /c0/],
    ["gemini", { tools: "hammer" }, /tools/],
    ["bedrock", {
      messages: [{
        role: "user",
        content: [{ type: "image_url", image_url: { url: "http://169.254.169.254/x.png" } }],
      }],
    }, /cannot take/],
    ["ollama", { tool_choice: "required" }, /tool_choice/],
    ["ollama", {
      messages: [{
        role: "user",
        content: [{ type: "image_url", image_url: { url: "/etc/passwd" } }],
      }],
    }, /images as data/],
    ["ollama", {
      messages: [{
        role: "assistant",
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "[1]" } }],
      }],
    }, /arguments/],
  ];
  for (const [kind, request, message] of table) {
    await withBackend({ provider: kind, base_url: provider.url }, async (services) => {
      for (const stream of [false, true]) {
        await assert.rejects(answer(services, { ...request, stream }), {
          name: "Invalid",
          message,
        });
      }
    });
  }
  assert.deepEqual(provider.seen, []);
});
