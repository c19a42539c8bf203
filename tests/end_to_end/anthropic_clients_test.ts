import assert from "node:assert/strict";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { EVENTS, MESSAGE } from "../services/models/llm/support/anthropic.ts";
import { FakeProvider } from "../services/models/llm/support/provider.ts";
import { call, registerAgent } from "../support/api.ts";
import { peer, pythonClients } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";

const MODEL = "claude-opus-5-5";
const REQUEST = {
  model: MODEL,
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "look" }],
};

function anthropicProvider(): FakeProvider {
  return new FakeProvider(({ path, body }) => {
    if (path.startsWith("/v1/models")) {
      return Response.json({ data: [{ id: MODEL }], has_more: false });
    }
    if (path.endsWith("/count_tokens")) return Response.json({ input_tokens: 77 });
    const { model, stream } = body as { model: string; stream?: boolean };
    if (model === "overloaded") {
      const error = { type: "overloaded_error", message: "Overloaded" };
      return Response.json({ type: "error", error }, { status: 529 });
    }
    return stream === true ? new Response(EVENTS.join("")) : Response.json(MESSAGE);
  });
}

function start(): Promise<Program> {
  return startProgram({ environment: { THE_KEY: "sk-1234567890" } });
}

/** Makes the provider a backend, and gives an agent's token and the base URL for clients. */
async function connect(program: Program, provider: FakeProvider) {
  const backend = {
    name: "main",
    provider: "anthropic",
    base_url: provider.url,
    api_key_env: "THE_KEY",
  };
  assert.equal((await call(program, "POST", "/v1/llm/backends", backend)).status, 201);
  await registerAgent(program, "scout");
  const request = { owner: "scout", name: "sdk", scopes: ["read", "write"] };
  const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
  return { token, baseUrl: `${program.api}/v1/llm/anthropic` };
}

Deno.test("Anthropic's package for JavaScript works with another base URL and nothing else", async () => {
  await using provider = anthropicProvider();
  await using program = await start();
  const { token, baseUrl: baseURL } = await connect(program, provider);
  const client = new Anthropic({ baseURL, apiKey: token });

  const { content, usage } = await client.messages.create(REQUEST);
  assert.deepEqual([content, usage.cache_read_input_tokens], [MESSAGE.content, 1000]);
  const streamed = await client.messages.stream(REQUEST).finalMessage();
  assert.deepEqual([streamed.content, streamed.usage.output_tokens], [MESSAGE.content, 40]);
  const beta = await client.beta.messages.create({ ...REQUEST, betas: ["one-2025-01-01"] });
  assert.deepEqual(beta.content, MESSAGE.content);
  assert.equal(provider.seen.at(-1)?.headers.get("anthropic-beta"), "one-2025-01-01");
  const { model, messages } = REQUEST;
  assert.equal((await client.messages.countTokens({ model, messages })).input_tokens, 77);
  const ids: string[] = [];
  for await (const { id } of client.models.list({ limit: 5 })) ids.push(id);
  assert.deepEqual(ids, [MODEL]);
  assert.equal((await client.models.retrieve(`main/${MODEL}`)).id, `main/${MODEL}`);

  const bearer = new Anthropic({ baseURL, apiKey: null, authToken: token, maxRetries: 0 });
  assert.equal((await bearer.messages.create(REQUEST)).id, MESSAGE.id);
  await assert.rejects(
    bearer.messages.create({ ...REQUEST, model: "main/overloaded" }),
    (error) =>
      error instanceof Anthropic.InternalServerError && error.status === 529 &&
      error.type === "overloaded_error",
  );
  await assert.rejects(
    new Anthropic({ baseURL, apiKey: "wrong" }).models.list(),
    Anthropic.AuthenticationError,
  );
  const calls = await (await call(program, "GET", "/v1/llm/calls?agent=scout")).json();
  assert.equal(calls.length, 5);
});

const PYTHON = `
import json, os
import anthropic

client = anthropic.Anthropic(base_url=os.environ["BASE_URL"], api_key=os.environ["TOKEN"])
request = {"model": "${MODEL}", "max_tokens": 100}
request["messages"] = [{"role": "user", "content": "look"}]
told = {}
told["whole"] = client.messages.create(**request).content[1].text
with client.messages.stream(**request) as stream:
    told["streamed"] = stream.get_final_message().content[2].input
told["models"] = [model.id for model in client.models.list()]
counted = client.messages.count_tokens(model=request["model"], messages=request["messages"])
told["tokens"] = counted.input_tokens
try:
    request["model"] = "main/overloaded"
    client.with_options(max_retries=0).messages.create(**request)
except anthropic.APIStatusError as error:
    told["overloaded"] = error.status_code
print(json.dumps(told))
`;

Deno.test({
  name: "Anthropic's package for Python works with another base URL and nothing else",
  ...peer("python clients"),
  async fn() {
    await using provider = anthropicProvider();
    await using program = await start();
    const { token, baseUrl } = await connect(program, provider);
    const script = join(program.folder, "clients.py");
    await Deno.writeTextFile(script, PYTHON);
    const { code, stdout, stderr } = await new Deno.Command(pythonClients(), {
      args: [script],
      env: { BASE_URL: baseUrl, TOKEN: token },
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), {
      whole: "I look.",
      streamed: { at: "é" },
      models: [MODEL],
      tokens: 77,
      overloaded: 529,
    });
  },
});
