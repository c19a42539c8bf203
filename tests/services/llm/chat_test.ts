/** Each API of a provider, spoken over the wire and translated from and to the common format. */
import assert from "node:assert/strict";
import { answer, assembled, chunks, KEY, withBackend } from "./support/gateway.ts";
import { awsEventStream, eventStream, FakeProvider, jsonLines } from "./support/provider.ts";

const WEATHER = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** A conversation in which the model called a tool twice and has both results. */
const CONVERSATION = [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "Rome or Oslo?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
      { id: "c2", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
    ],
  },
  { role: "tool", tool_call_id: "c1", content: "sun" },
  { role: "tool", tool_call_id: "c2", content: "snow" },
];

const REQUEST = {
  model: "m",
  messages: CONVERSATION,
  tools: [WEATHER],
  tool_choice: "auto",
  max_tokens: 50,
  temperature: 0.5,
  stop: "END",
};

Deno.test("a backend of the common format gets and gives everything as it is", async () => {
  const told = {
    id: "x",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    of_this_provider_alone: { deep: [1] },
  };
  await using provider = new FakeProvider(() => Response.json(told));
  await withBackend({ provider: "mine", base_url: `${provider.url}/v1` }, async (rooms) => {
    const request = { ...REQUEST, model: "main/a/b", unheard_of: { x: [null] }, backend: "main" };
    assert.deepEqual(await answer(rooms, request), told);
    const { method, path, headers, body } = provider.only;
    assert.deepEqual([method, path], ["POST", "/v1/chat/completions"]);
    assert.equal(headers.get("authorization"), `Bearer ${KEY}`);
    assert.match(headers.get("user-agent") ?? "", /^muster\//);
    const { backend: _, ...rest } = request;
    assert.deepEqual(body, rest);
  });
});

Deno.test("a stream of the common format passes, and tells its tokens only where asked", async () => {
  const head = { id: "x", object: "chat.completion.chunk", model: "m" };
  const parts = [
    { ...head, choices: [{ index: 0, delta: { content: "h€" }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ];
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const last = { ...head, choices: [], usage };
  await using provider = new FakeProvider(() => eventStream([...parts, last], { done: true }));
  await withBackend({ provider: "openai", base_url: provider.url }, async (rooms) => {
    assert.deepEqual(await chunks(rooms, {}), parts);
    const asked = { stream_options: { include_usage: true } };
    assert.deepEqual(await chunks(rooms, asked), [...parts, last]);
    for (const { body } of provider.seen) {
      assert.deepEqual((body as typeof asked).stream_options, { include_usage: true });
    }
    const [stats] = rooms.llm.gateway.stats();
    assert.deepEqual([stats?.promptTokens, stats?.completionTokens], [6, 4]);
  });
});

Deno.test("a provider that may not know the wish for tokens is not told of it", async () => {
  const part = { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] };
  await using provider = new FakeProvider(() => eventStream([part], { done: true }));
  await withBackend({ provider: "mistral", base_url: provider.url }, async (rooms) => {
    await chunks(rooms, {});
    assert.ok(!("stream_options" in (provider.only.body as object)));
  });
});

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
  await withBackend({ provider: "anthropic", base_url: provider.url }, async (rooms) => {
    const told = await answer(rooms, REQUEST);
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
  await withBackend({ provider: "anthropic", base_url: `${provider.url}/v1` }, async (rooms) => {
    const told = await chunks(rooms, {
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
  await withBackend({ provider: "gemini", base_url: provider.url }, async (rooms) => {
    const told = await answer(rooms, REQUEST);
    const message = told.choices[0]?.message;
    assert.equal(message?.content, null);
    assert.equal(told.choices[0]?.finish_reason, "tool_calls");
    assert.equal(told.usage?.["prompt_tokens"], 8);
    const [call] = message?.tool_calls ?? [];
    assert.deepEqual(call?.function, { name: "weather", arguments: '{"city":"Bern"}' });

    await answer(rooms, {
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
  await withBackend({ provider: "gemini", base_url: provider.url }, async (rooms) => {
    const { content, finish, usage } = assembled(await chunks(rooms, {}));
    assert.deepEqual([content, finish, usage], ["Hello", ["length"], undefined]);
    assert.match(provider.only.path, /^\/v1beta\/models\/m:streamGenerateContent\?alt=sse$/);
    const [stats] = rooms.llm.gateway.stats();
    assert.deepEqual([stats?.promptTokens, stats?.completionTokens], [5, 2]);
  });
});

Deno.test("Bedrock: a conversation with tools, with a key or signed", async () => {
  await using provider = new FakeProvider(() =>
    Response.json({
      output: {
        message: {
          role: "assistant",
          content: [
            { text: "Wait." },
            { toolUse: { toolUseId: "u1", name: "weather", input: { city: "Bern" } } },
          ],
        },
      },
      stopReason: "tool_use",
      usage: { inputTokens: 30, outputTokens: 6, totalTokens: 36 },
      metrics: { latencyMs: 5 },
    })
  );
  const model = "anthropic.claude-3-5-sonnet-20241022-v2:0";
  await withBackend({ provider: "bedrock", base_url: provider.url }, async (rooms) => {
    const told = await answer(rooms, { ...REQUEST, model });
    assert.equal(told.choices[0]?.message?.content, "Wait.");
    assert.deepEqual(told.choices[0]?.message?.tool_calls?.[0]?.function, {
      name: "weather",
      arguments: '{"city":"Bern"}',
    });
    assert.equal(told.usage?.["total_tokens"], 36);
    const { path, headers, body } = provider.only;
    assert.equal(path, `/model/${encodeURIComponent(model)}/converse`);
    assert.equal(headers.get("authorization"), `Bearer ${KEY}`);
    assert.partialDeepStrictEqual(body, {
      system: [{ text: "Be brief." }],
      inferenceConfig: { maxTokens: 50, temperature: 0.5, stopSequences: ["END"] },
      toolConfig: { tools: [{ toolSpec: { name: "weather" } }] },
    });
  });
  const signing = { provider: "bedrock", base_url: provider.url, api_key_env: "X_ACCESS_KEY_ID" };
  const environment = {
    X_ACCESS_KEY_ID: "AKIDEXAMPLE",
    X_SECRET_ACCESS_KEY: KEY,
    AWS_REGION: "eu-central-2",
    AWS_BEARER_TOKEN_BEDROCK: "of-somebody-else",
  };
  await withBackend(signing, async (rooms) => {
    await answer(rooms, { model });
    const authorization = provider.seen.at(-1)?.headers.get("authorization") ?? "";
    assert.match(authorization, /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d+\/eu-central-2\//);
  }, { environment });
});

Deno.test("Bedrock: text and a tool, streamed in AWS's event stream", async () => {
  await using provider = new FakeProvider(() =>
    awsEventStream([
      ["messageStart", { role: "assistant" }],
      ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Ho" } }],
      ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "la" } }],
      ["contentBlockStop", { contentBlockIndex: 0 }],
      ["contentBlockStart", {
        contentBlockIndex: 1,
        start: { toolUse: { toolUseId: "u2", name: "weather" } },
      }],
      ["contentBlockDelta", {
        contentBlockIndex: 1,
        delta: { toolUse: { input: '{"city":"Bern"}' } },
      }],
      ["contentBlockStop", { contentBlockIndex: 1 }],
      ["messageStop", { stopReason: "tool_use" }],
      ["metadata", {
        usage: { inputTokens: 4, outputTokens: 3, totalTokens: 7 },
        metrics: { latencyMs: 9 },
      }],
    ])
  );
  await withBackend({ provider: "bedrock", base_url: provider.url }, async (rooms) => {
    const told = assembled(
      await chunks(rooms, { tools: [WEATHER], stream_options: { include_usage: true } }),
    );
    assert.deepEqual([told.content, told.finish], ["Hola", ["tool_calls"]]);
    assert.deepEqual(told.calls, [{ id: "u2", name: "weather", arguments: '{"city":"Bern"}' }]);
    assert.equal(told.usage?.["total_tokens"], 7);
    assert.equal(provider.only.path, "/model/m/converse-stream");
  });
});

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
  await withBackend({ provider: "ollama", base_url: provider.url }, async (rooms) => {
    const told = await answer(rooms, { ...REQUEST, reasoning_effort: "low" });
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
  await withBackend({ provider: "ollama", base_url: provider.url }, async (rooms) => {
    const told = await chunks(rooms, { stream_options: { include_usage: true } });
    const { content, finish, usage } = assembled(told);
    assert.deepEqual([content, finish], ["Héllo", ["length"]]);
    assert.equal(usage?.["total_tokens"], 5);
  });
});

Deno.test("what a provider's format cannot say is the caller's mistake, and nothing is sent", async () => {
  await using provider = new FakeProvider(() => Response.json({}));
  const table: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ["anthropic", { messages: [{ role: "wizard", content: "x" }] }, /messages\.0\.role/],
    ["anthropic", { messages: [{ role: "user", content: 7 }] }, /messages\.0\.content/],
    ["anthropic", { n: 2 }, /"n"/],
    ["anthropic", { model: "../../v1/files" }, /"model"/],
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
    await withBackend({ provider: kind, base_url: provider.url }, async (rooms) => {
      for (const stream of [false, true]) {
        await assert.rejects(answer(rooms, { ...request, stream }), { name: "Invalid", message });
      }
    });
  }
  assert.deepEqual(provider.seen, []);
});
