/** Gemini's API, spoken over the wire and translated from and to the common format. */
import assert from "node:assert/strict";
import { REQUEST } from "../support/conversation.ts";
import { answer, assembled, chunks, KEY, withBackend } from "../support/gateway.ts";
import { eventStream, FakeProvider } from "../support/provider.ts";

Deno.test("Gemini: a conversation with tools, and the signature that must come back", async () => {
  await using provider = new FakeProvider(() =>
    Response.json({
      candidates: [{
        content: {
          role: "model",
          parts: [{
            functionCall: { name: "weather", args: { city: "Bern" } },
            thoughtSignature: "c2ln",
          }],
        },
        finishReason: "STOP",
        index: 0,
      }],
      usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 4, totalTokenCount: 12 },
      modelVersion: "gemini-x",
    })
  );
  await withBackend({ provider: "gemini", base_url: provider.url }, async (services) => {
    const told = await answer(services, REQUEST);
    const message = told.choices[0]?.message;
    assert.equal(message?.content, null);
    assert.equal(told.choices[0]?.finish_reason, "tool_calls");
    assert.equal(told.usage?.["prompt_tokens"], 8);
    const [call] = message?.tool_calls ?? [];
    assert.deepEqual(call?.function, { name: "weather", arguments: '{"city":"Bern"}' });

    await answer(services, {
      messages: [
        { role: "user", content: "Bern?" },
        { role: "assistant", ...message },
        { role: "tool", tool_call_id: call?.id, content: "rain" },
      ],
    });
    const [first, second] = provider.seen;
    assert.equal(first?.path, "/v1beta/models/m:generateContent");
    assert.equal(first?.headers.get("x-goog-api-key"), KEY);
    assert.partialDeepStrictEqual(first?.body, {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      generationConfig: { maxOutputTokens: 50, temperature: 0.5, stopSequences: ["END"] },
    });
    assert.ok(JSON.stringify(second?.body).includes('"thoughtSignature":"c2ln"'));
  });
});

Deno.test("Gemini: streamed text with its tokens", async () => {
  const part = (text: string, more: object = {}) => ({
    candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
    modelVersion: "gemini-x",
  });
  await using provider = new FakeProvider(() =>
    eventStream([part("Hel"), part("lo", { finishReason: "MAX_TOKENS" })])
  );
  await withBackend({ provider: "gemini", base_url: provider.url }, async (services) => {
    const { content, finish, usage } = assembled(await chunks(services, {}));
    assert.deepEqual([content, finish, usage], ["Hello", ["length"], undefined]);
    assert.match(provider.only.path, /^\/v1beta\/models\/m:streamGenerateContent\?alt=sse$/);
    const [stats] = services.llm.gateway.stats();
    assert.deepEqual([stats?.promptTokens, stats?.completionTokens], [5, 2]);
  });
});
