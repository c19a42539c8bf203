import assert from "node:assert/strict";
import { join } from "node:path";
import OpenAI from "openai";
import { FakeProvider, named } from "../services/models/llm/support/provider.ts";
import { call, registerAgent } from "../support/api.ts";
import { peer, pythonClients } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";

const HEAD = { id: "x", created: 1, model: "m" };
const COMPLETION = {
  ...HEAD,
  object: "chat.completion",
  choices: [
    { index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" },
  ],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
};

function chunk(delta: object, finish_reason: string | null) {
  return {
    ...HEAD,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  };
}

const CHUNKS = [
  chunk({ role: "assistant", content: "hel" }, null),
  chunk({ content: "lo" }, null),
  chunk({}, "stop"),
];

const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "m",
  status: "completed",
  output: [{
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "hello", annotations: [] }],
  }],
  usage: {
    input_tokens: 2,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 3,
  },
};

const EVENTS = [
  { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { ...RESPONSE.output[0], status: "in_progress", content: [] },
  },
  {
    type: "response.content_part.added",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    part: { type: "output_text", text: "", annotations: [] },
  },
  {
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: "hello",
  },
  { type: "response.completed", response: RESPONSE },
].map((event, index) => ({ ...event, sequence_number: index }));

const EMBEDDINGS = {
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }],
  model: "m",
  usage: { prompt_tokens: 2, total_tokens: 2 },
};

/** A provider that speaks OpenAI's format, and the requests for each model that reached it. */
interface Provider extends AsyncDisposable {
  readonly url: string;
  readonly asked: Map<string, number>;
}

function openAiProvider(): Provider {
  const asked = new Map<string, number>();
  const fake = new FakeProvider(({ path, body }) => {
    if (path === "/models") return Response.json({ data: [{ id: "m" }] });
    if (path === "/embeddings") return Response.json(EMBEDDINGS);
    const { model, stream } = body as { model: string; stream?: boolean };
    asked.set(model, (asked.get(model) ?? 0) + 1);
    if (model === "bad") {
      const error = { message: "no such tool", type: "invalid_request_error", code: "bad_tool" };
      return Response.json({ error }, { status: 400 });
    }
    if (model === "busy") {
      const error = { message: "slow down", type: "requests", code: "rate_limit_exceeded" };
      return Response.json({ error }, { status: 429, headers: { "retry-after": "3" } });
    }
    if (path === "/responses") {
      return stream === true ? new Response(EVENTS.map(named).join("")) : Response.json(RESPONSE);
    }
    if (stream !== true) return Response.json(COMPLETION);
    const events = [...CHUNKS.map((one) => JSON.stringify(one)), "[DONE]"];
    return new Response(events.map((data) => `data: ${data}\n\n`).join(""));
  });
  return { url: fake.url, asked, [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose]() };
}

/** Makes the provider a backend, and gives an agent's token and the base URL for clients. */
async function connect(program: Program, provider: Provider) {
  const backend = {
    name: "main",
    provider: "openai",
    base_url: provider.url,
    api_key_env: "THE_KEY",
  };
  assert.equal((await call(program, "POST", "/v1/llm/backends", backend)).status, 201);
  await registerAgent(program, "scout");
  const request = { owner: "scout", name: "sdk", scopes: ["read", "write"] };
  const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
  return { token, baseUrl: `${program.api}/v1/llm/openai` };
}

Deno.test("the openai package for JavaScript works with another base URL and nothing else", async () => {
  await using provider = openAiProvider();
  await using program = await startProgram({ environment: { THE_KEY: "sk-1234567890" } });
  const { token, baseUrl } = await connect(program, provider);
  const client = new OpenAI({ baseURL: baseUrl, apiKey: token });
  const messages = [{ role: "user" as const, content: "hi" }];

  const models = await client.models.list();
  assert.deepEqual(models.data.map(({ id }) => id), ["main/m"]);
  assert.equal((await client.models.retrieve("main/m")).owned_by, "main");
  await assert.rejects(client.models.retrieve("main/none"), OpenAI.NotFoundError);
  const whole = await client.chat.completions.create({ model: "main/m", messages });
  assert.equal(whole.choices[0]?.message.content, "hello");
  let streamed = "";
  const stream = await client.chat.completions.create({ model: "main/m", messages, stream: true });
  for await (const part of stream) streamed += part.choices[0]?.delta.content ?? "";
  assert.equal(streamed, "hello");
  const response = await client.responses.create({ model: "main/m", input: "hi" });
  assert.equal(response.output_text, "hello");
  const events = client.responses.stream({ model: "main/m", input: "hi" });
  assert.equal((await events.finalResponse()).output_text, "hello");
  const { data } = await client.embeddings.create({
    model: "main/m",
    input: "hi",
    encoding_format: "float",
  });
  assert.deepEqual(data[0]?.embedding, [0.25, -0.5]);

  await assert.rejects(
    client.chat.completions.create({ model: "main/bad", messages }),
    (error) =>
      error instanceof OpenAI.BadRequestError && error.code === "bad_tool" &&
      /no such tool/.test(error.message),
  );
  assert.equal(provider.asked.get("bad"), 1);
  const impatient = new OpenAI({ baseURL: baseUrl, apiKey: token, maxRetries: 0 });
  await assert.rejects(
    impatient.chat.completions.create({ model: "main/busy", messages }),
    (error) => error instanceof OpenAI.RateLimitError && error.headers.get("retry-after") === "3",
  );
  await assert.rejects(
    new OpenAI({ baseURL: baseUrl, apiKey: "wrong" }).models.list(),
    OpenAI.AuthenticationError,
  );
});

const PYTHON = `
import json, os
import litellm, openai

base, key = os.environ["BASE_URL"], os.environ["TOKEN"]
messages = [{"role": "user", "content": "hi"}]
told = {}

client = openai.OpenAI(base_url=base, api_key=key)
told["models"] = [model.id for model in client.models.list()]
told["model"] = client.models.retrieve("main/m").id
create = client.chat.completions.create
told["whole"] = create(model="main/m", messages=messages).choices[0].message.content
parts = create(model="main/m", messages=messages, stream=True)
told["streamed"] = "".join(part.choices[0].delta.content or "" for part in parts)
told["response"] = client.responses.create(model="main/m", input="hi").output_text
with client.responses.stream(model="main/m", input="hi") as events:
    told["response streamed"] = events.get_final_response().output_text
told["embedding"] = client.embeddings.create(
    model="main/m", input="hi", encoding_format="float"
).data[0].embedding
try:
    create(model="main/bad", messages=messages)
except openai.BadRequestError as error:
    told["bad"] = error.code
try:
    client.with_options(max_retries=0).chat.completions.create(model="main/busy", messages=messages)
except openai.RateLimitError as error:
    told["busy"] = error.response.headers["retry-after"]

options = {"api_base": base, "api_key": key, "messages": messages, "num_retries": 0}
answer = litellm.completion(model="openai/main/m", **options)
told["litellm"] = answer.choices[0].message.content
parts = litellm.completion(model="openai/main/m", stream=True, **options)
told["litellm streamed"] = "".join(part.choices[0].delta.content or "" for part in parts)
try:
    litellm.completion(model="openai/main/bad", **options)
except litellm.BadRequestError as error:
    told["litellm bad"] = error.status_code
print(json.dumps(told))
`;

Deno.test({
  name: "the openai package for Python and LiteLLM work with another base URL and nothing else",
  ...peer("python clients"),
  async fn() {
    await using provider = openAiProvider();
    await using program = await startProgram({ environment: { THE_KEY: "sk-1234567890" } });
    const { token, baseUrl } = await connect(program, provider);
    const script = join(program.folder, "clients.py");
    await Deno.writeTextFile(script, PYTHON);
    const { code, stdout, stderr } = await new Deno.Command(pythonClients(), {
      args: [script],
      env: { BASE_URL: baseUrl, TOKEN: token, LITELLM_LOCAL_MODEL_COST_MAP: "True" },
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    // LiteLLM prints advice of its own before.
    const told = new TextDecoder().decode(stdout).trimEnd().split("\n").at(-1) ?? "";
    assert.deepEqual(JSON.parse(told), {
      models: ["main/m"],
      model: "main/m",
      whole: "hello",
      streamed: "hello",
      response: "hello",
      "response streamed": "hello",
      embedding: [0.25, -0.5],
      bad: "bad_tool",
      busy: "3",
      litellm: "hello",
      "litellm streamed": "hello",
      "litellm bad": 400,
    });
    assert.equal(provider.asked.get("bad"), 2);
  },
});
