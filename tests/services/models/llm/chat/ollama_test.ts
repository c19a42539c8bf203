/** Ollama's API, spoken over the wire and translated from and to the common format. */
import assert from "node:assert/strict";
import { REQUEST, WEATHER } from "../support/conversation.ts";
import { answer, assembled, chunks, KEY, withBackend } from "../support/gateway.ts";
import { FakeProvider, jsonLines } from "../support/provider.ts";

Deno.test("Ollama: a conversation with tools, as a whole", async () => {
  await using provider = new FakeProvider(() =>
    Response.json({
      model: "llama",
      created_at: "2026-11-20T12:00:00Z",
      message: {
        role: "assistant",
        content: "",
        thinking: "hmm",
        tool_calls: [{ function: { name: "weather", arguments: { city: "Bern" } } }],
      },
      done: true,
      done_reason: "stop",
      prompt_eval_count: 26,
      eval_count: 8,
    })
  );
  await withBackend({ provider: "ollama", base_url: provider.url }, async (services) => {
    const told = await answer(services, { ...REQUEST, reasoning_effort: "low" });
    const message = told.choices[0]?.message;
    assert.equal(message?.reasoning_content, "hmm");
    assert.deepEqual(message?.tool_calls?.[0]?.function, {
      name: "weather",
      arguments: '{"city":"Bern"}',
    });
    assert.equal(told.choices[0]?.finish_reason, "tool_calls");
    assert.equal(told.usage?.["total_tokens"], 34);
    const { path, headers, body } = provider.only;
    assert.equal(path, "/api/chat");
    assert.equal(headers.get("authorization"), `Bearer ${KEY}`);
    assert.deepEqual(body, {
      model: "m",
      stream: false,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Rome or Oslo?", images: ["iVBORw0KGgo="] },
        {
          role: "assistant",
          content: "",
          tool_calls: [
            { function: { name: "weather", arguments: { city: "Rome" } } },
            { function: { name: "weather", arguments: { city: "Oslo" } } },
          ],
        },
        { role: "tool", content: "sun", tool_name: "weather" },
        { role: "tool", content: "snow", tool_name: "weather" },
      ],
      tools: [WEATHER],
      think: "low",
      options: { num_predict: 50, temperature: 0.5, stop: ["END"] },
    });
  });
});

Deno.test("Ollama: streamed lines", async () => {
  const line = (content: string, more: object = {}) => ({
    model: "llama",
    message: { role: "assistant", content },
    done: false,
    ...more,
  });
  await using provider = new FakeProvider(() =>
    jsonLines([
      line("Hé"),
      line("llo"),
      line("", { done: true, done_reason: "length", prompt_eval_count: 3, eval_count: 2 }),
    ])
  );
  await withBackend({ provider: "ollama", base_url: provider.url }, async (services) => {
    const told = await chunks(services, { stream_options: { include_usage: true } });
    const { content, finish, usage } = assembled(told);
    assert.deepEqual([content, finish], ["Héllo", ["length"]]);
    assert.equal(usage?.["total_tokens"], 5);
  });
});
