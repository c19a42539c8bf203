import assert from "node:assert/strict";
import {
  FakeProvider,
  named,
  type SeenRequest,
} from "../../services/models/llm/support/provider.ts";
import { type TestApi, withApi } from "../../support/scenarios.ts";

const RESPONSES = "POST /v1/llm/openai/responses";
const EMBEDDINGS = "POST /v1/llm/openai/embeddings";
const KEY = "sk-PLANTED-0123456789";

const REQUEST = {
  model: "main/gpt-5",
  instructions: "Be brief.",
  input: [
    { role: "user", content: [{ type: "input_text", text: "look" }] },
    { type: "reasoning", id: "rs_0", summary: [], encrypted_content: "c2VhbGVk" },
    { type: "function_call", call_id: "call_0", name: "look", arguments: '{"at":"é"}' },
    { type: "function_call_output", call_id: "call_0", output: "a door" },
  ],
  tools: [{ type: "function", name: "look", parameters: {} }, { type: "web_search" }],
  include: ["reasoning.encrypted_content"],
  store: false,
  field_of_tomorrow: [1],
};

const RESPONSE = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-5-2025-08-07",
  output: [{
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "A door.", annotations: [] }],
  }],
  usage: {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 800, cache_write_tokens: 0 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 10 },
    total_tokens: 1030,
  },
  service_tier: "default",
  error: null,
};

const COST = 200 * 1.25 + 800 * 0.125 + 30 * 10;

const BEGIN = [
  { type: "response.created", response: { ...RESPONSE, status: "in_progress", usage: null } },
  { type: "response.output_text.delta", item_id: "msg_1", delta: "A door." },
];
const END = { type: "response.completed", response: RESPONSE };

/** Runs a test with the backends `other` and `main`; only the second has this API. */
async function withOpenAi(
  answer: (request: SeenRequest) => Response | Promise<Response>,
  run: (api: TestApi, provider: FakeProvider) => Promise<void>,
): Promise<void> {
  await using provider = new FakeProvider(answer);
  const { url: base_url } = provider;
  const backends = [
    { name: "other", provider: "anthropic", base_url, api_key_env: "THE_KEY" },
    { name: "main", provider: "openai", base_url, api_key_env: "THE_KEY" },
  ];
  const config = { llm: { backends } };
  await withApi((api) => run(api, provider), { config, environment: { THE_KEY: KEY } });
}

function streamed(events: readonly { readonly type: string }[]): Response {
  return new Response(events.map(named).join(""));
}

async function lastCall(api: TestApi): Promise<Record<string, unknown>> {
  const [call] = await api.answer("GET /v1/llm/calls?limit=1") as Record<string, unknown>[];
  assert.ok(call);
  return call;
}

Deno.test("a request of the Responses API passes as it is, and so does its answer", async () => {
  const text = JSON.stringify(RESPONSE, null, 1);
  await withOpenAi(() => new Response(text), async (api, provider) => {
    const response = await api.send({ who: "writer", request: RESPONSES, body: REQUEST });
    assert.equal(await response.text(), text);
    const { path, headers, body } = provider.only;
    assert.deepEqual([path, headers.get("authorization")], ["/responses", `Bearer ${KEY}`]);
    assert.deepEqual(body, { ...REQUEST, model: "gpt-5" });
    const call = await lastCall(api);
    assert.deepEqual(
      [call["input_tokens"], call["output_tokens"], call["cached_input_tokens"]],
      [1000, 30, 800],
    );
    assert.deepEqual([call["model"], call["cost_micro_usd"]], ["gpt-5", COST]);
  });
});

Deno.test("an input is a list, or one text of any length that a body has room for", async () => {
  const input = "a page, ".repeat(100_000);
  const list = { object: "list", data: [], usage: { prompt_tokens: 1 } };
  const answer = ({ path }: SeenRequest) => Response.json(path === "/embeddings" ? list : RESPONSE);
  await withOpenAi(answer, async (api, provider) => {
    for (const request of [RESPONSES, EMBEDDINGS]) {
      const response = await api.send({ request, body: { model: "main/m", input } });
      assert.equal(response.status, 200, request);
      await response.body?.cancel();
    }
    assert.deepEqual(provider.seen.map(({ body }) => body), [
      { model: "m", input },
      { model: "m", input },
    ]);
  });
});

Deno.test("events of the Responses API pass as they are, up to the last one", async () => {
  const endings = [
    [END, "completed"],
    [{ type: "response.incomplete", response: { ...RESPONSE, status: "incomplete" } }, "completed"],
    [{ type: "response.failed", response: { ...RESPONSE, status: "failed" } }, "failed"],
    [{ type: "error", code: "server_error", message: "no" }, "failed"],
  ] as const;
  for (const [end, outcome] of endings) {
    const events = [...BEGIN, end];
    await withOpenAi(() => streamed(events), async (api) => {
      const body = { ...REQUEST, stream: true };
      const response = await api.send({ who: "writer", request: RESPONSES, body });
      assert.equal(await response.text(), events.map(named).join(""));
      const call = await lastCall(api);
      assert.deepEqual([call["outcome"], call["streamed"]], [outcome, true]);
      if (end.type !== "error") assert.equal(call["cost_micro_usd"], COST);
    });
  }
});

Deno.test("a halt and a stream that breaks off end a response as failed", async () => {
  const begun = new TextEncoder().encode(BEGIN.map(named).join(""));
  const bodies = [
    () => new ReadableStream({ start: (stream) => stream.enqueue(begun) }),
    () => new Blob([begun]).stream(),
  ];
  for (const [index, body] of bodies.entries()) {
    await withOpenAi(() => new Response(body()), async (api) => {
      const request = { ...REQUEST, stream: true };
      const response = await api.send({ who: "writer", request: RESPONSES, body: request });
      if (index === 0) await api.answer("POST /v1/halt", { reason: "drill" });
      const frames = (await response.text()).trimEnd().split("\n\n");
      const [name, data] = frames.at(-1)?.split("\n") ?? [];
      assert.equal(name, "event: response.failed");
      const { sequence_number, response: told } = JSON.parse(data?.slice("data: ".length) ?? "");
      // A halt may come before the second event.
      assert.ok(index === 0 || frames.length === 3);
      assert.deepEqual([sequence_number, told.status], [frames.length - 1, "failed"]);
      assert.match(told.error.message, index === 0 ? /halted: drill/ : /stopped before its end/);
      const { outcome, estimated_tokens: tokens } = await lastCall(api);
      assert.equal(outcome, index === 0 ? "cancelled" : "failed");
      assert.ok(Number(tokens) > 50);
    });
  }
});

Deno.test("errors of OpenAI's API pass with status and form, without the key", async () => {
  const error = { message: `no ${KEY}`, type: "invalid_request_error", param: "x", code: "bad" };
  await withOpenAi(({ body }) => {
    const status = Number((body as { model: string }).model);
    return Response.json({ error }, { status });
  }, async (api) => {
    for (const status of [400, 404, 429, 500, 503]) {
      const body = { ...REQUEST, model: `main/${status}`, stream: true };
      const response = await api.send({ request: RESPONSES, body });
      assert.equal(response.status, status);
      assert.deepEqual(await response.json(), { error: { ...error, message: "no [removed]" } });
    }
    const denied = await api.send({ request: RESPONSES, body: { ...REQUEST, model: "main/401" } });
    assert.deepEqual([denied.status, (await denied.json()).error.type], [502, "server_error"]);
  });
});

Deno.test("a response in the background is refused, since nobody would learn what it takes", async () => {
  await withOpenAi(() => Response.json(RESPONSE), async (api, provider) => {
    const body = { ...REQUEST, background: true };
    const response = await api.send({ request: RESPONSES, body });
    assert.equal(response.status, 400);
    assert.match((await response.json()).error.message, /"background"/);
    assert.deepEqual(provider.seen, []);
  });
});

Deno.test("embeddings pass as they are, and count in the ledger", async () => {
  const answer = {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [0.1, -0.2] }],
    model: "text-embedding-3-small",
    usage: { prompt_tokens: 8, total_tokens: 8 },
  };
  const text = JSON.stringify(answer, null, 1);
  await withOpenAi(() => new Response(text), async (api, provider) => {
    const body = { model: "main/e", input: ["a text"], encoding_format: "float" };
    const response = await api.send({ who: "writer", request: EMBEDDINGS, body });
    assert.equal(await response.text(), text);
    assert.equal(provider.only.path, "/embeddings");
    assert.deepEqual(provider.only.body, { ...body, model: "e" });
    const call = await lastCall(api);
    assert.deepEqual([call["input_tokens"], call["output_tokens"]], [8, 0]);
    const refused = [{ ...body, stream: true }, { ...body, input: 7 }, {
      ...body,
      model: "other/e",
    }];
    for (const wrong of refused) {
      const { status } = await api.send({ request: EMBEDDINGS, body: wrong });
      assert.equal(status, 400);
    }
  });
});
