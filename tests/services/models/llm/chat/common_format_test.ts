/** Providers that speak the common format: nothing is translated. */
import assert from "node:assert/strict";
import { REQUEST } from "../support/conversation.ts";
import { answer, chunks, KEY, withBackend } from "../support/gateway.ts";
import { eventStream, FakeProvider } from "../support/provider.ts";

Deno.test("a backend of the common format sends and receives everything unchanged", async () => {
  const told = {
    id: "x",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    of_this_provider_alone: { deep: [1] },
  };
  await using provider = new FakeProvider(() => Response.json(told));
  await withBackend({ provider: "mine", base_url: `${provider.url}/v1` }, async (services) => {
    const request = { ...REQUEST, model: "main/a/b", unheard_of: { x: [null] }, backend: "main" };
    assert.deepEqual(await answer(services, request), told);
    const { method, path, headers, body } = provider.only;
    assert.deepEqual([method, path], ["POST", "/v1/chat/completions"]);
    assert.equal(headers.get("authorization"), `Bearer ${KEY}`);
    assert.match(headers.get("user-agent") ?? "", /^muster\//);
    const { backend: _, ...rest } = request;
    assert.deepEqual(body, rest);
  });
});

Deno.test("a stream of the common format passes unchanged, and counts tokens only on request", async () => {
  const head = { id: "x", object: "chat.completion.chunk", model: "m" };
  const parts = [
    { ...head, choices: [{ index: 0, delta: { content: "h€" }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ];
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const last = { ...head, choices: [], usage };
  await using provider = new FakeProvider(() => eventStream([...parts, last], { done: true }));
  await withBackend({ provider: "openai", base_url: provider.url }, async (services) => {
    assert.deepEqual(await chunks(services, {}), parts);
    const asked = { stream_options: { include_usage: true } };
    assert.deepEqual(await chunks(services, asked), [...parts, last]);
    for (const { body } of provider.seen) {
      assert.deepEqual((body as typeof asked).stream_options, { include_usage: true });
    }
    const [stats] = services.llm.gateway.stats();
    assert.deepEqual([stats?.promptTokens, stats?.completionTokens], [6, 4]);
  });
});

Deno.test("a provider that may not know stream_options does not get it", async () => {
  const part = { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] };
  await using provider = new FakeProvider(() => eventStream([part], { done: true }));
  await withBackend({ provider: "mistral", base_url: provider.url }, async (services) => {
    await chunks(services, {});
    assert.ok(!("stream_options" in (provider.only.body as object)));
  });
});
