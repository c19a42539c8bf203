import assert from "node:assert/strict";
import { COST, EVENTS, MESSAGE, written } from "../../services/models/llm/support/anthropic.ts";
import { FakeProvider, type SeenRequest } from "../../services/models/llm/support/provider.ts";
import { type TestApi, withApi } from "../../support/scenarios.ts";

const MESSAGES = "POST /v1/llm/anthropic/v1/messages";
const COUNT = `${MESSAGES}/count_tokens`;
const KEY = "sk-PLANTED-0123456789";

const REQUEST = {
  model: "claude-opus-4-5",
  max_tokens: 100,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0=" } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Let me see.", signature: "c2lnbmVk" },
        { type: "tool_use", id: "toolu_0", name: "look", input: { at: "é" } },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_0", content: "a door", is_error: true }],
    },
  ],
  tools: [{ name: "look", input_schema: { type: "object" } }],
  thinking: { type: "enabled", budget_tokens: 1024 },
  metadata: { user_id: "u" },
  field_of_tomorrow: [1],
};

/** Runs a test with the backends `other`, of another kind, and `main`, of Anthropic's kind. */
async function withAnthropic(
  answer: (request: SeenRequest) => Response | Promise<Response>,
  run: (api: TestApi, provider: FakeProvider) => Promise<void>,
  llm: object = {},
): Promise<void> {
  await using provider = new FakeProvider(answer);
  const { url: base_url } = provider;
  const backends = [
    { name: "other", provider: "mine", base_url: "http://127.0.0.1:9" },
    { name: "main", provider: "anthropic", base_url, api_key_env: "THE_KEY" },
  ];
  const config = { llm: { backends, ...llm } };
  await withApi((api) => run(api, provider), { config, environment: { THE_KEY: KEY } });
}

function streamed(events: readonly string[]): Response {
  return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
}

/** The last call in the ledger. */
async function lastCall(api: TestApi): Promise<Record<string, unknown>> {
  const [call] = await api.answer("GET /v1/llm/calls?limit=1") as Record<string, unknown>[];
  assert.ok(call);
  return call;
}

Deno.test("a request of Anthropic's API passes as it is, and so does its answer", async () => {
  const text = JSON.stringify(MESSAGE, null, 1);
  const headers = {
    "content-type": "application/json",
    "request-id": "req_7",
    "anthropic-ratelimit-requests-remaining": "9",
    "set-cookie": "a=b",
  };
  await withAnthropic(() => new Response(text, { headers }), async (api, provider) => {
    const sent = {
      "anthropic-version": "2024-01-01",
      "anthropic-beta": "one-2025-01-01,two-2025-01-01",
      "x-other": "1",
    };
    const response = await api.send({
      who: "writer",
      request: `${MESSAGES}?beta=true`,
      headers: sent,
      body: REQUEST,
    });
    assert.equal(response.status, 200);
    assert.equal(await response.text(), text);
    const told = ["request-id", "anthropic-ratelimit-requests-remaining", "set-cookie"]
      .map((name) => response.headers.get(name));
    assert.deepEqual(told, ["req_7", "9", null]);

    const { path, headers: seen, body } = provider.only;
    assert.equal(path, "/v1/messages");
    assert.deepEqual(body, REQUEST);
    const names = ["x-api-key", "anthropic-version", "anthropic-beta", "authorization", "x-other"];
    assert.deepEqual(
      names.map((name) => seen.get(name)),
      [KEY, "2024-01-01", "one-2025-01-01,two-2025-01-01", null, null],
    );
    const call = await lastCall(api);
    assert.deepEqual(
      [call["agent"], call["backend"], call["model"], call["response_model"], call["outcome"]],
      ["caller", "main", "claude-opus-4-5", "claude-opus-4-5-20251101", "completed"],
    );
    const { input_tokens, output_tokens, cached_input_tokens, cache_write_input_tokens } = call;
    assert.deepEqual(
      [input_tokens, output_tokens, cached_input_tokens, cache_write_input_tokens],
      [1310, 40, 1000, 300],
    );
    assert.equal(call["cost_micro_usd"], COST);
  });
});

Deno.test("the events of a stream pass as they are, and count in the ledger", async () => {
  await withAnthropic(() => streamed(EVENTS), async (api, provider) => {
    const body = { ...REQUEST, model: "main/claude-opus-4-5", stream: true };
    const response = await api.send({ who: "writer", request: MESSAGES, body });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(await response.text(), EVENTS.join(""));
    assert.deepEqual(provider.only.body, { ...body, model: "claude-opus-4-5" });
    assert.equal(provider.only.headers.get("anthropic-version"), "2023-06-01");
    const call = await lastCall(api);
    assert.deepEqual(
      [call["streamed"], call["input_tokens"], call["output_tokens"], call["cost_micro_usd"]],
      [true, 1310, 40, COST],
    );
  });
});

Deno.test("a model at a surcharge has no cost, and budgets count its usual one", async () => {
  for (const more of [{ speed: "fast" }, { service_tier: "batch" }, { inference_geo: "us" }]) {
    const answer = { ...MESSAGE, usage: { ...MESSAGE.usage, ...more } };
    await withAnthropic(() => Response.json(answer), async (api) => {
      await api.answer(MESSAGES, REQUEST);
      assert.equal((await lastCall(api))["cost_micro_usd"], null);
      const { total } = await api.answer("GET /v1/llm/usage") as { total: Record<string, number> };
      assert.deepEqual([total["estimated_tokens"], total["estimated_cost_micro_usd"]], [0, COST]);
    });
  }
});

Deno.test("errors of Anthropic's API pass with status and form, without the key", async () => {
  const statuses = [400, 404, 413, 429, 500, 529];
  const form = (status: number) => ({
    type: "error",
    error: { type: `type_${status}`, message: `prompt is too long: 9 > 8 ${KEY}`, more: null },
    request_id: "req_1",
  });
  await withAnthropic(({ body }) => {
    const status = Number((body as { model: string }).model);
    const headers = { "retry-after": "7", "x-should-retry": "true" };
    return Response.json(form(status), { status, headers });
  }, async (api) => {
    for (const status of [...statuses, 401, 403]) {
      for (const stream of [false, true]) {
        const body = { ...REQUEST, model: String(status), stream };
        const response = await api.send({ request: MESSAGES, body });
        const told = await response.json();
        if (status === 401 || status === 403) {
          // The key is muster's.
          assert.deepEqual([response.status, told.error.type], [502, "api_error"]);
          assert.match(told.error.message, /answered 40[13]: prompt is too long.*\[removed\]/);
          continue;
        }
        const { error, ...rest } = form(status);
        const message = error.message.replace(KEY, "[removed]");
        assert.deepEqual(told, { ...rest, error: { ...error, message } });
        const headers = ["retry-after", "x-should-retry"].map((name) => response.headers.get(name));
        assert.deepEqual([response.status, ...headers], [status, "7", "true"]);
        assert.equal((await lastCall(api))["outcome"], "failed");
      }
    }
  });
});

Deno.test("an error in a stream passes too, and one that breaks off ends with an error", async () => {
  const overloaded = written({
    type: "error",
    error: { type: "overloaded_error", message: "Overloaded" },
  });
  let events: readonly string[] = [];
  await withAnthropic(() => streamed(events), async (api) => {
    const send = async () => {
      const body = { ...REQUEST, stream: true };
      return await (await api.send({ request: MESSAGES, body })).text();
    };
    events = [overloaded];
    assert.equal(await send(), overloaded);
    assert.equal((await lastCall(api))["outcome"], "failed");
    events = [...EVENTS.slice(0, 4), overloaded];
    assert.equal(await send(), events.join(""));
    events = EVENTS.slice(0, 4);
    const text = await send();
    assert.ok(text.startsWith(events.join("")));
    const [, data = ""] = /event: error\ndata: (.*)\n\n$/.exec(text) ?? [];
    const { type, error } = JSON.parse(data);
    assert.deepEqual([type, error.type], ["error", "api_error"]);
    assert.equal((await lastCall(api))["outcome"], "failed");
  });
});

Deno.test("an answer that is no message is the backend's failure", async () => {
  const answers = [{}, { type: "error", error: { type: "x", message: "no" } }, { choices: [] }];
  for (const answer of answers) {
    await withAnthropic(() => Response.json(answer), async (api) => {
      for (const stream of [false, true]) {
        const response = await api.send({ request: MESSAGES, body: { ...REQUEST, stream } });
        assert.deepEqual([response.status, (await response.json()).type], [502, "error"]);
      }
    });
  }
});

Deno.test("a client that leaves ends the call, which counts what was told and said", async () => {
  const cancelled = Promise.withResolvers<void>();
  await withAnthropic(() => {
    const begun = new TextEncoder().encode(EVENTS.slice(0, 4).join(""));
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(begun),
        cancel: () => cancelled.resolve(),
      }),
    );
  }, async (api) => {
    const body = { ...REQUEST, stream: true };
    const response = await api.send({ who: "writer", request: MESSAGES, body });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes("Let me see.")) {
      text += new TextDecoder().decode((await reader?.read())?.value);
    }
    await reader?.cancel();
    await cancelled.promise;
    await api.services.llm.gateway.close();
    const call = await lastCall(api);
    assert.deepEqual(
      [call["outcome"], call["input_tokens"], call["output_tokens"], call["estimated_tokens"]],
      ["cancelled", 1310, null, Math.ceil("Let me see.".length / 4)],
    );
  });
});

Deno.test("a halt ends a stream of Anthropic's API with an error, and refuses the next one", async () => {
  await withAnthropic(() => {
    const begun = new TextEncoder().encode(EVENTS.slice(0, 4).join(""));
    return new Response(new ReadableStream({ start: (stream) => stream.enqueue(begun) }));
  }, async (api) => {
    const request = {
      who: "writer",
      request: MESSAGES,
      body: { ...REQUEST, stream: true },
    } as const;
    const running = await api.send(request);
    await api.answer("POST /v1/halt", { reason: "drill" });
    const text = await running.text();
    assert.match(text, /event: error\ndata: .*"permission_error".*All agents are halted: drill/);
    for (const path of [MESSAGES, COUNT]) {
      const refused = await api.send({ ...request, request: path });
      const { type, error } = await refused.json();
      assert.deepEqual([refused.status, type, error.type], [423, "error", "permission_error"]);
    }
  });
});

Deno.test("budgets bind what clients of Anthropic's API call, and say not to try again", async () => {
  await withAnthropic(() => Response.json(MESSAGE), async (api) => {
    await api.answer("PUT /v1/llm/budgets/agent.caller.day", { max_cost_micro_usd: COST });
    const request = { who: "writer", request: MESSAGES, body: REQUEST } as const;
    assert.equal((await api.send(request)).status, 200);
    const refused = await api.send(request);
    const { error } = await refused.json();
    assert.deepEqual(
      [refused.status, error.type, refused.headers.get("x-should-retry")],
      [429, "rate_limit_error", "false"],
    );
    assert.match(error.message, /budget "agent.caller.day" is used up/);
  });
});

Deno.test("the token is a Bearer token or an API key, and errors have the form of Anthropic's", async () => {
  await withAnthropic(() => Response.json(MESSAGE), async (api) => {
    const token = api.authorizationOf("writer")?.slice("Bearer ".length) ?? "";
    const reader = api.authorizationOf("reader")?.slice("Bearer ".length) ?? "";
    const table = [
      [{ who: "writer", request: MESSAGES, body: REQUEST }, 200],
      [{ who: "guest", request: MESSAGES, headers: { "x-api-key": token }, body: REQUEST }, 200],
      [{ who: "guest", request: MESSAGES, body: REQUEST }, 401, "authentication_error"],
      [
        { who: "guest", request: MESSAGES, headers: { "x-api-key": "no" }, body: REQUEST },
        401,
        "authentication_error",
      ],
      [
        { who: "guest", request: MESSAGES, headers: { "x-api-key": reader }, body: REQUEST },
        403,
        "permission_error",
      ],
      [
        { who: "guest", request: "GET /v1/status", headers: { "x-api-key": token } },
        401,
      ],
      [{ request: MESSAGES, body: { ...REQUEST, model: 7 } }, 400, "invalid_request_error"],
      [{ request: MESSAGES, body: "{" }, 400, "invalid_request_error"],
      [{ request: MESSAGES, body: "x".repeat(5000) }, 413, "request_too_large"],
      [{ request: "GET /v1/llm/anthropic/v1/nothing" }, 404, "not_found_error"],
      [{ request: "GET /v1/llm/anthropic/v1/messages" }, 405, "invalid_request_error"],
    ] as const;
    for (const [request, status, type] of table) {
      const response = await api.send(request);
      const { error } = await response.json();
      assert.equal(response.status, status, JSON.stringify(request));
      if (type !== undefined) assert.equal(error.type, type);
    }
  }, { limits: { request_bytes: 4096 } });
});

Deno.test("tokens are counted by Anthropic, or else estimated, and are in no ledger", async () => {
  const { model, messages } = REQUEST;
  await withAnthropic(() => Response.json({ input_tokens: 77 }), async (api, provider) => {
    const counted = await api.answer(COUNT, { model, messages });
    assert.deepEqual(counted, { input_tokens: 77 });
    assert.equal(provider.only.path, "/v1/messages/count_tokens");
    assert.deepEqual(provider.only.body, { model, messages });
    const other = await api.answer(COUNT, { model: "other/m", messages }) as Record<string, number>;
    assert.ok(other["input_tokens"]! > 50 && other["input_tokens"]! < 200);
    assert.deepEqual(await api.answer("GET /v1/llm/calls"), []);
  });
});

Deno.test("models are listed by the shortest name that a request may give them", async () => {
  await withAnthropic(
    () => Response.json({ data: [{ id: "claude-opus-4-5" }, { id: "a/b" }], has_more: false }),
    async (api) => {
      const path = "GET /v1/llm/anthropic/v1/models";
      const page = await api.answer(`${path}?limit=5`) as { data: { id: string }[] };
      assert.deepEqual(page.data.map(({ id }) => id), ["claude-opus-4-5", "main/a/b"]);
      assert.deepEqual(page, {
        data: page.data,
        has_more: false,
        first_id: "claude-opus-4-5",
        last_id: "main/a/b",
      });
      const model = await api.answer(`${path}/main%2Fclaude-opus-4-5`) as Record<string, unknown>;
      assert.deepEqual([model["type"], model["id"]], ["model", "main/claude-opus-4-5"]);
      const missing = await api.send({ request: `${path}/none` });
      assert.deepEqual(
        [missing.status, (await missing.json()).error.type],
        [404, "not_found_error"],
      );
    },
  );
});
