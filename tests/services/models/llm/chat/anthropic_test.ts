/** Anthropic's API, spoken over the wire and translated from and to the common format. */
import assert from "node:assert/strict";
import { REQUEST, WEATHER } from "../support/conversation.ts";
import { answer, assembled, chunks, KEY, withBackend } from "../support/gateway.ts";
import { eventStream, FakeProvider } from "../support/provider.ts";

Deno.test("Anthropic: a conversation with tools, as a whole", async () => {
  await using provider = new FakeProvider(() =>
    Response.json({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "t1", name: "weather", input: { city: "Bern" } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 20, output_tokens: 7 },
    })
  );
  await withBackend({ provider: "anthropic", base_url: provider.url }, async (services) => {
    const told = await answer(services, REQUEST);
    assert.deepEqual(told.choices[0]?.message, {
      role: "assistant",
      content: "Let me see.",
      tool_calls: [{
        id: "t1",
        type: "function",
        function: { name: "weather", arguments: '{"city":"Bern"}' },
      }],
    });
    assert.equal(told.choices[0]?.finish_reason, "tool_calls");
    assert.equal(told.usage?.["total_tokens"], 27);
    const { path, headers, body } = provider.only;
    assert.equal(path, "/v1/messages");
    assert.equal(headers.get("x-api-key"), KEY);
    const sent = body as { messages: { role: string; content: { type: string }[] }[] };
    assert.deepEqual(
      sent.messages.map(({ role, content }) => [
        role,
        ...content.map(({ type }) => type),
      ]),
      [
        ["user", "text", "image"],
        ["assistant", "tool_use", "tool_use"],
        ["user", "tool_result", "tool_result"],
      ],
    );
    assert.partialDeepStrictEqual(sent, {
      model: "m",
      system: [{ type: "text", text: "Be brief." }],
      max_tokens: 50,
      temperature: 0.5,
      stop_sequences: ["END"],
      tools: [{ name: "weather", input_schema: WEATHER.function.parameters }],
      tool_choice: { type: "auto" },
    });
  });
});

Deno.test("Anthropic: text, thinking and a tool, streamed", async () => {
  await using provider = new FakeProvider(() =>
    eventStream([
      {
        type: "message_start",
        message: {
          id: "msg_2",
          type: "message",
          role: "assistant",
          model: "claude-x",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 11, output_tokens: 1 },
        },
      },
      { type: "ping" },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "thinking_delta", thinking: "hmm" },
      },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Gr" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "üezi" } },
      { type: "content_block_stop", index: 1 },
      {
        type: "content_block_start",
        index: 2,
        content_block: { type: "tool_use", id: "t9", name: "weather", input: {} },
      },
      {
        type: "content_block_delta",
        index: 2,
        delta: { type: "input_json_delta", partial_json: '{"city":' },
      },
      {
        type: "content_block_delta",
        index: 2,
        delta: { type: "input_json_delta", partial_json: '"Bern"}' },
      },
      { type: "content_block_stop", index: 2 },
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: { output_tokens: 9 },
      },
      { type: "message_stop" },
    ], { named: true })
  );
  await withBackend({ provider: "anthropic", base_url: `${provider.url}/v1` }, async (services) => {
    const told = await chunks(services, {
      tools: [WEATHER],
      stream_options: { include_usage: true },
    });
    assert.deepEqual(assembled(told), {
      content: "Grüezi",
      reasoning: "hmm",
      calls: [{ id: "t9", name: "weather", arguments: '{"city":"Bern"}' }],
      finish: ["tool_calls"],
      usage: {
        prompt_tokens: 11,
        completion_tokens: 9,
        total_tokens: 20,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    });
    for (const chunk of told) {
      assert.equal(chunk["object"], "chat.completion.chunk");
      assert.equal(chunk["id"], "msg_2");
    }
  });
});
