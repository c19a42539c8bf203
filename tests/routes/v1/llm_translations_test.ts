/** Clients of Anthropic's and OpenAI's own APIs, with backends of other kinds. */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { COUNTED_APIS, countedAnswer } from "../../services/models/llm/support/counted_answers.ts";
import {
  eventStream,
  FakeProvider,
  type SeenRequest,
} from "../../services/models/llm/support/provider.ts";
import { type TestApi, withApi } from "../../support/scenarios.ts";

const PICTURE = "iVBORw0KGgo=";
const CALL = { name: "weather", arguments: '{"city":"Rom\\u00e9"}' };
const USAGE = {
  prompt_tokens: 120,
  completion_tokens: 20,
  total_tokens: 140,
  prompt_tokens_details: { cached_tokens: 100 },
};

/** The chunks of an answer with thoughts, a text and two calls that come side by side. */
const CHUNKS = [
  delta({ role: "assistant", content: "" }),
  delta({ reasoning_content: "Let me " }),
  delta({ reasoning_content: "see." }),
  delta({ content: "I " }),
  delta({ content: "look." }),
  delta({
    tool_calls: [{ index: 0, id: "c1", type: "function", function: { ...CALL, arguments: "" } }],
  }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
  delta({ tool_calls: [{ index: 1, id: "c2", type: "function", function: CALL }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
  delta({}, "tool_calls"),
  { id: "x", model: "m-1", choices: [], usage: USAGE },
];

/** The same as a whole. */
const COMPLETION = {
  id: "x",
  model: "m-1",
  choices: [{
    index: 0,
    message: {
      role: "assistant",
      content: "I look.",
      reasoning_content: "Let me see.",
      tool_calls: [
        { id: "c1", type: "function", function: { ...CALL, arguments: '{"city":"Oslo"}' } },
        { id: "c2", type: "function", function: CALL },
      ],
    },
    finish_reason: "tool_calls",
  }],
  usage: USAGE,
};

function delta(delta: object, finish_reason: string | null = null) {
  return { id: "x", model: "m-1", choices: [{ index: 0, delta, finish_reason }] };
}

function said({ body }: Pick<SeenRequest, "body">): Response {
  return (body as { stream?: boolean }).stream === true
    ? eventStream(CHUNKS, { done: true })
    : Response.json(COMPLETION);
}

/** Runs a test with one backend `main`. */
async function withBackend(
  provider: string,
  answer: (request: SeenRequest) => Response,
  run: (api: TestApi, provider: FakeProvider) => Promise<void>,
): Promise<void> {
  await using fake = new FakeProvider(answer);
  const backend = { name: "main", provider, base_url: fake.url, api_key_env: "THE_KEY" };
  await withApi((api) => run(api, fake), {
    config: { llm: { backends: [backend] } },
    environment: { THE_KEY: "sk-0123456789" },
  });
}

/** How a client connects to the API. */
function connection(api: TestApi) {
  return {
    apiKey: api.authorizationOf("writer")?.slice("Bearer ".length) ?? "",
    fetch: (input: string | URL | Request, init?: RequestInit) =>
      api.handle(new Request(input, init)),
    maxRetries: 0,
  };
}

function anthropic(api: TestApi): Anthropic {
  return new Anthropic({ baseURL: "http://localhost/v1/llm/anthropic", ...connection(api) });
}

function openai(api: TestApi): OpenAI {
  return new OpenAI({ baseURL: "http://localhost/v1/llm/openai", ...connection(api) });
}

const WEATHER: Anthropic.Tool = {
  name: "weather",
  description: "The weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

const ANTHROPIC: Anthropic.MessageCreateParamsNonStreaming = {
  model: "main/m",
  max_tokens: 50,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  stop_sequences: ["END"],
  tools: [WEATHER, { type: "web_search_20250305", name: "web_search" }],
  tool_choice: { type: "any" },
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Rome or Oslo?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "by another model", signature: "c2ln" },
        { type: "text", text: "I ask." },
        { type: "tool_use", id: "t1", name: "weather", input: { city: "Rome" } },
        { type: "tool_use", id: "t2", name: "weather", input: { city: "Oslo" } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "t1",
          content: [
            { type: "text", text: "sun" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
          ],
        },
        { type: "tool_result", tool_use_id: "t2", content: "snow" },
        { type: "text", text: "And?" },
      ],
    },
  ],
};

const IMAGE = { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } };

function chatCall(id: string, city: string) {
  return { id, type: "function", function: { name: "weather", arguments: `{"city":"${city}"}` } };
}

const CHAT_TOOL = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};

Deno.test("requests and answers of the Messages API are translated", async () => {
  await withBackend("mine", said, async (api, provider) => {
    const client = anthropic(api);
    const whole = await client.messages.create(ANTHROPIC);
    assert.deepEqual(provider.only.body, {
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "Rome or Oslo?" }, IMAGE] },
        {
          role: "assistant",
          content: "I ask.",
          tool_calls: [chatCall("t1", "Rome"), chatCall("t2", "Oslo")],
        },
        { role: "tool", tool_call_id: "t1", content: "sun" },
        { role: "tool", tool_call_id: "t2", content: "snow" },
        { role: "user", content: [IMAGE, { type: "text", text: "And?" }] },
      ],
      max_tokens: 50,
      stop: ["END"],
      tools: [CHAT_TOOL],
      tool_choice: "required",
    });
    const streamed = await client.messages.stream(ANTHROPIC).finalMessage();
    for (const { model, content, stop_reason: reason, usage } of [whole, streamed]) {
      assert.deepEqual([model, reason], ["m-1", "tool_use"]);
      const [thought, text, first, second] = content;
      assert.deepEqual(text, { type: "text", text: "I look." });
      assert.equal(thought?.type === "thinking" && thought.thinking, "Let me see.");
      const calls = [first, second].map((one) => one?.type === "tool_use" && [one.id, one.input]);
      assert.deepEqual(calls, [["c1", { city: "Oslo" }], ["c2", { city: "Romé" }]]);
      assert.deepEqual(
        [usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens],
        [20, 100, 20],
      );
    }
    // Thoughts that a client sends back reach the backend again.
    const messages = [...ANTHROPIC.messages, {
      role: "assistant" as const,
      content: streamed.content,
    }];
    await client.messages.create({ ...ANTHROPIC, messages });
    const { messages: sent } = provider.seen.at(-1)?.body as { messages: object[] };
    assert.deepEqual(sent.at(-1), {
      role: "assistant",
      content: "I look.",
      reasoning_content: "Let me see.",
      tool_calls: [chatCall("c1", "Oslo"), chatCall("c2", "Romé")],
    });
  });
});

Deno.test("clients of the Messages and Responses APIs are answered by every kind of backend", async () => {
  for (const kind of COUNTED_APIS) {
    await withBackend(kind, (request) => countedAnswer(kind, request), async (api) => {
      const messages = [{ role: "user" as const, content: "hello" }];
      const message = await anthropic(api).messages.stream({
        model: "main/m",
        max_tokens: 9,
        messages,
      }).finalMessage();
      assert.deepEqual(message.content, [{ type: "text", text: "hi" }], kind);
      assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens], [20, 7], kind);
      assert.equal(message.stop_reason, "end_turn");
      if (kind !== "openai") {
        const request = { model: "main/m", input: "hello" };
        const response = await openai(api).responses.create(request);
        assert.deepEqual([response.output_text, response.usage?.input_tokens], ["hi", 20], kind);
      }
      const rows = await api.answer("GET /v1/llm/calls") as Record<string, unknown>[];
      for (const { outcome, input_tokens, output_tokens } of rows) {
        assert.deepEqual([outcome, input_tokens, output_tokens], ["completed", 20, 7], kind);
      }
    });
  }
});

const RESPONSES: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
  model: "main/m",
  instructions: "Be brief.",
  max_output_tokens: 50,
  store: false,
  tools: [
    {
      type: "function",
      name: "weather",
      description: "The weather of a city",
      parameters: CHAT_TOOL.function.parameters,
      strict: null,
    },
    { type: "custom", name: "patch", description: "Changes files" },
    { type: "web_search" },
  ],
  tool_choice: "required",
  text: { format: { type: "json_schema", name: "answer", schema: { type: "object" } } },
  input: [
    { role: "developer", content: "Be kind." },
    {
      role: "user",
      content: [
        { type: "input_text", text: "Rome or Oslo?" },
        {
          type: "input_image",
          image_url: `data:image/png;base64,${PICTURE}`,
          detail: "auto",
        },
      ],
    },
    { type: "reasoning", id: "rs", summary: [], encrypted_content: "by another model" },
    { type: "function_call", call_id: "t1", name: "weather", arguments: '{"city":"Rome"}' },
    { type: "custom_tool_call", call_id: "t2", name: "patch", input: "+ a" },
    { type: "function_call_output", call_id: "t1", output: "sun" },
    { type: "custom_tool_call_output", call_id: "t2", output: "done" },
    { role: "user", content: "And?" },
  ],
};

Deno.test("requests and answers of the Responses API are translated", async () => {
  await withBackend("mine", said, async (api, provider) => {
    const client = openai(api);
    const whole = await client.responses.create(RESPONSES);
    const { tools, ...body } = provider.only.body as { tools: unknown[] };
    assert.deepEqual(body, {
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "system", content: "Be kind." },
        { role: "user", content: [{ type: "text", text: "Rome or Oslo?" }, IMAGE] },
        {
          role: "assistant",
          content: null,
          tool_calls: [chatCall("t1", "Rome"), {
            id: "t2",
            type: "function",
            function: { name: "patch", arguments: '{"input":"+ a"}' },
          }],
        },
        { role: "tool", tool_call_id: "t1", content: "sun" },
        { role: "tool", tool_call_id: "t2", content: "done" },
        { role: "user", content: [{ type: "text", text: "And?" }] },
      ],
      max_tokens: 50,
      tool_choice: "required",
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: { type: "object" } },
      },
    });
    assert.equal(tools.length, 2);
    assert.deepEqual(tools[0], CHAT_TOOL);
    // The package reads an answer in a form of JSON, which this one has not.
    const { text: _, stream: __, ...request } = RESPONSES;
    const streamed = await client.responses.stream(request).finalResponse();
    for (const { model, output, output_text: text, status, usage } of [whole, streamed]) {
      assert.deepEqual([model, status, text], ["m-1", "completed", "I look."]);
      const [thought, , first, second] = output;
      assert.equal(
        thought?.type === "reasoning" && thought.summary[0]?.text,
        "Let me see.",
      );
      const calls = [first, second].map((one) =>
        one?.type === "function_call" && [one.call_id, one.name, JSON.parse(one.arguments)]
      );
      assert.deepEqual(calls, [
        ["c1", "weather", { city: "Oslo" }],
        ["c2", "weather", { city: "Romé" }],
      ]);
      assert.deepEqual(
        [usage?.input_tokens, usage?.input_tokens_details.cached_tokens, usage?.output_tokens],
        [120, 100, 20],
      );
    }
  });
});

Deno.test("tools with texts and tools in namespaces come back as what they are", async () => {
  const calls = [
    {
      index: 0,
      id: "c1",
      type: "function",
      function: { name: "patch", arguments: '{"input":"+ é"}' },
    },
    { index: 1, id: "c2", type: "function", function: { name: "mcp__tickets", arguments: "{}" } },
  ];
  const chunks = [delta({ tool_calls: calls }), delta({}, "tool_calls")];
  await withBackend("mine", () => eventStream(chunks, { done: true }), async (api) => {
    const tools = [
      { type: "custom", name: "patch" },
      {
        type: "namespace",
        name: "mcp",
        description: "",
        tools: [{ type: "function", name: "tickets" }],
      },
    ];
    const request = { model: "main/m", input: "go", stream: true, tools };
    const response = await api.send({ request: "POST /v1/llm/openai/responses", body: request });
    const events = (await response.text()).trimEnd().split("\n\n")
      .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)));
    assert.deepEqual(
      events.map(({ sequence_number: number }) => number),
      events.map((_, index) => index),
    );
    const { output } = events.at(-1).response;
    const [patch, tickets] = output;
    assert.deepEqual([patch.type, patch.call_id, patch.input], ["custom_tool_call", "c1", "+ é"]);
    assert.deepEqual(
      [tickets.type, tickets.name, tickets.namespace],
      ["function_call", "tickets", "mcp"],
    );
  });
});

Deno.test("what Gemini needs back with a result comes back through both APIs", async () => {
  const parts = [{
    functionCall: { name: "weather", args: { city: "Rome" } },
    thoughtSignature: "c2lnbmF0dXJl",
  }];
  const answer = {
    candidates: [{ content: { role: "model", parts }, index: 0, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
    modelVersion: "x",
  };
  await withBackend("gemini", ({ path }) => {
    return path.includes("stream") ? eventStream([answer]) : Response.json(answer);
  }, async (api, provider) => {
    const signatures = () =>
      JSON.stringify(provider.seen.at(-1)?.body).match(/"thoughtSignature":"c2lnbmF0dXJl"/g)
        ?.length;
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Rome?" }];
    const asking = { model: "main/gemini-3-pro", max_tokens: 9, tools: [WEATHER] };
    const message = await anthropic(api).messages.stream({ ...asking, messages }).finalMessage();
    const call = message.content.find(({ type }) => type === "tool_use") as Anthropic.ToolUseBlock;
    messages.push({ role: "assistant", content: message.content }, {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: call.id, content: "sun" }],
    });
    await anthropic(api).messages.create({ ...asking, messages });
    assert.equal(signatures(), 1);

    const request = { model: "main/gemini-3-pro", tools: RESPONSES.tools?.slice(0, 1) ?? [] };
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Rome?" }];
    const response = await openai(api).responses.stream({ ...request, input }).finalResponse();
    const asked = response.output.find(({ type }) => type === "function_call");
    assert.equal(asked?.type, "function_call");
    const { call_id } = asked as OpenAI.Responses.ResponseFunctionToolCall;
    const result = { type: "function_call_output" as const, call_id, output: "sun" };
    await openai(api).responses.create({
      ...request,
      input: [...input, ...response.output as OpenAI.Responses.ResponseInputItem[], result],
    });
    assert.equal(signatures(), 1);
  });
});

Deno.test("what cannot be translated is refused by name, and a failing backend in the form of the API", async () => {
  await withBackend("mine", ({ body }) => {
    const { model } = body as { model: string };
    const error = { message: "no such tool", type: "t", code: "c" };
    return model === "bad" ? Response.json({ error }, { status: 400 }) : eventStream([CHUNKS[3]]);
  }, async (api) => {
    const url = { type: "url" as const, url: "https://example.com/a.pdf" };
    const ask = (content: Anthropic.ContentBlockParam[], model = "main/m") =>
      anthropic(api).messages.create({
        model,
        max_tokens: 9,
        messages: [{ role: "user", content }],
      });
    await assert.rejects(
      ask([{ type: "document", source: url }]),
      (error) => error instanceof Anthropic.BadRequestError && /document/.test(error.message),
    );
    await assert.rejects(
      ask([{ type: "text", text: "hi" }], "main/bad"),
      (error) =>
        error instanceof Anthropic.BadRequestError && error.type === "invalid_request_error" &&
        /answered 400: no such tool/.test(error.message),
    );
    await assert.rejects(
      openai(api).responses.create({ model: "main/m", input: "hi", previous_response_id: "r" }),
      (error) =>
        error instanceof OpenAI.BadRequestError && /previous_response_id/.test(error.message),
    );
    const body = {
      model: "main/m",
      max_tokens: 9,
      stream: true,
      messages: [{ role: "user", content: "x" }],
    };
    const cut = await api.send({ request: "POST /v1/llm/anthropic/v1/messages", body });
    assert.match(await cut.text(), /text_delta.*\nevent: error\ndata: .*"api_error"/s);
  });
});

Deno.test("a request of many parts is translated, and one with faults hears of the first", async () => {
  await withBackend("mine", said, async (api, provider) => {
    const ask = async (path: string, body: object) => {
      const response = await api.send({
        request: `POST /v1/llm/${path}`,
        body: { model: "main/m", max_tokens: 9, ...body },
      });
      return { status: response.status, text: await response.text() };
    };
    const messages = "anthropic/v1/messages";
    const responses = "openai/responses";
    const many = 130_000;
    const shown = { type: "input_image", image_url: "https://example.com/a.png" };
    const output = Array.from({ length: many }, () => shown);
    for (
      const [path, body] of [
        [messages, {
          messages: [
            { role: "assistant", content: Array.from({ length: many }, () => ({ type: "text" })) },
            { role: "user", content: "Go on." },
          ],
        }],
        [responses, {
          input: [
            { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
            { type: "function_call_output", call_id: "c", output },
          ],
        }],
      ] as const
    ) {
      const { status, text } = await ask(path, body);
      assert.equal(status, 200, text.slice(0, 200));
    }
    const seen = provider.seen.length;
    for (
      const [path, body, fault] of [
        [messages, { messages: Array.from({ length: 60_000 }, () => ({})) }, "messages[0].role"],
        [messages, { messages: [{ role: "user", content: Array(many).fill(1) }] }, "content[0]"],
        [responses, { input: [{}, ...Array(60_000).fill(1)] }, "input[1]"],
      ] as const
    ) {
      const { status, text } = await ask(path, body);
      assert.deepEqual([status, text.includes(fault)], [400, true], text.slice(0, 200));
    }
    assert.equal(provider.seen.length, seen);
  });
});
