import assert from "node:assert/strict";
import { FakeProvider } from "../../services/models/llm/support/provider.ts";
import { withApi } from "../../support/scenarios.ts";

const BACKENDS = "/v1/llm/backends";
const OPENAI_COMPLETE = "POST /v1/llm/openai/chat/completions";
const COMPLETE = "POST /v1/llm/complete";
const KEY = "sk-PLANTED-0123456789";
const MESSAGES = [{ role: "user", content: "hello" }];

const CONFIGURED = { name: "fixed", provider: "ollama", base_url: "http://127.0.0.1:9" };

Deno.test("POST /v1/llm/complete names what is wrong with a request", async () => {
  await withApi(async (api) => {
    const refused: readonly (readonly [unknown, RegExp])[] = [
      ["{", /JSON/],
      ["[]", /object/],
      [{}, /messages/],
      [{ messages: [] }, /messages/],
      [{ messages: "hello" }, /messages/],
      [{ messages: MESSAGES, model: 7 }, /model/],
      [{ messages: MESSAGES, model: "" }, /model/],
      [{ messages: MESSAGES, backend: {} }, /backend/],
      [{ messages: MESSAGES, stream: "yes" }, /stream/],
    ];
    await api.expect(
      refused.map(([body, matches]) => ({ request: COMPLETE, body, status: 400, matches })),
    );
  }, { config: { llm: { backends: [CONFIGURED] } } });
});

Deno.test("a completion is returned whole, or as events that end with [DONE]", async () => {
  const completion = { id: "x", choices: [{ message: { role: "assistant", content: "hi" } }] };
  const chunk = {
    id: "x",
    choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }],
  };
  const broken = { error: { message: `no more for ${KEY}` } };
  await using fake = new FakeProvider(({ body }) => {
    const { stream, model } = body as { stream?: boolean; model: string };
    if (stream !== true) return Response.json(completion);
    const events = model === "broken" ? [chunk, broken] : [chunk];
    return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  });
  const backend = { name: "main", provider: "mine", base_url: fake.url, api_key_env: "THE_KEY" };
  await withApi(async (api) => {
    const send = async (more: object) => {
      const body = { messages: MESSAGES, model: "m", ...more };
      const response = await api.send({ request: COMPLETE, body });
      return [response.status, response.headers.get("content-type"), await response.text()];
    };
    assert.deepEqual(await send({}), [200, "application/json", JSON.stringify(completion)]);
    const event = `data: ${JSON.stringify(chunk)}\n\n`;
    const streamed = [200, "text/event-stream", `${event}data: [DONE]\n\n`];
    assert.deepEqual(await send({ stream: true }), streamed);
    const [status, , text] = await send({ stream: true, model: "broken" });
    assert.equal(status, 200);
    const [first, last, ...rest] = String(text).split("\n\n");
    assert.deepEqual([`${first}\n\n`, rest], [event, [""]]);
    const { error } = JSON.parse(last?.slice("data: ".length) ?? "");
    assert.match(error.message, /no more for \[removed\]/);
  }, { config: { llm: { backends: [backend] } }, environment: { THE_KEY: KEY } });
});

Deno.test("a provider that fails is 502 with its status, one that is late 504, no key 503", async () => {
  const asked = Promise.withResolvers<void>();
  await using refusing = new FakeProvider(() =>
    Response.json({ error: { message: `bad key ${KEY}` } }, { status: 401 })
  );
  await using late = new FakeProvider(async ({ left }) => {
    asked.resolve();
    await left;
    return new Response();
  });
  const backends = [
    { name: "refusing", provider: "mine", base_url: refusing.url, api_key_env: "THE_KEY" },
    { name: "late", provider: "mine", base_url: late.url },
    { name: "keyless", provider: "mine", base_url: late.url, api_key_env: "NO_KEY" },
  ];
  await withApi(async (api) => {
    const matches = /answered 401: bad key \[removed\]/;
    const body = { messages: MESSAGES, backend: "refusing" };
    await api.expect([
      { request: `GET ${BACKENDS}/refusing/models`, status: 502, matches },
      { request: COMPLETE, body, status: 502, matches },
      { request: COMPLETE, body: { ...body, stream: true }, status: 502, matches },
      { request: `GET ${BACKENDS}/keyless/models`, status: 503, matches: /NO_KEY/ },
      { request: COMPLETE, body: { ...body, backend: "keyless" }, status: 503, matches: /NO_KEY/ },
    ]);
    const expected = api.expect([{ request: `GET ${BACKENDS}/late/models`, status: 504 }]);
    await asked.promise;
    api.services.clock.advance(10_000);
    await expected;
    await api.services.llm.gateway.close();
    const events = await api.services.database.tables.selectFrom("events").selectAll().execute();
    const kept = JSON.stringify(events) + api.services.log.lines.join("\n");
    assert.ok(!kept.includes("PLANTED"));
  }, { config: { llm: { backends } }, environment: { THE_KEY: KEY } });
});

Deno.test("a refusal of the provider keeps its status and Retry-After; an outage is 502", async () => {
  await using fake = new FakeProvider(({ body }) => {
    const status = Number((body as { model: string }).model);
    const error = { message: `no ${KEY}`, type: "a_type", code: "a_code" };
    return Response.json({ error }, { status, headers: { "retry-after": "7" } });
  });
  const backend = { name: "main", provider: "mine", base_url: fake.url, api_key_env: "THE_KEY" };
  await withApi(async (api) => {
    for (const status of [400, 404, 413, 422, 429, 401, 403, 500, 503]) {
      const passed = [400, 404, 413, 422, 429].includes(status);
      for (const stream of [false, true]) {
        const body = { messages: MESSAGES, model: String(status), stream };
        const plain = await api.send({ request: COMPLETE, body });
        assert.equal(plain.status, passed ? status : 502);
        assert.equal(plain.headers.get("retry-after"), passed ? "7" : null);
        const message = `The LLM backend "main" answered ${status}: no [removed]`;
        assert.deepEqual(await plain.json(), { error: message });

        const likeOpenAi = await api.send({ request: OPENAI_COMPLETE, body });
        assert.equal(likeOpenAi.status, plain.status);
        assert.deepEqual(await likeOpenAi.json(), {
          error: passed
            ? { message, type: "a_type", code: "a_code" }
            : { message, type: "server_error", code: null },
        });
      }
    }
  }, { config: { llm: { backends: [backend] } }, environment: { THE_KEY: KEY } });
});

Deno.test("OpenAI's SDKs do not wait for hours, nor try again where that is of no use", async () => {
  const inTime = { message: "slow down", type: "requests", code: "rate_limit_exceeded" };
  const usedUp = { message: "pay first", type: "insufficient_quota", code: "insufficient_quota" };
  const hours = new Date(Date.now() + 9 * 3_600_000).toUTCString();
  const cases: readonly {
    readonly answer: readonly [status: number, error: unknown, retryAfter: string | null];
    readonly expected: readonly (string | null)[];
  }[] = [
    { answer: [429, inTime, "2"], expected: ["2", null, inTime.code] },
    { answer: [429, inTime, "60"], expected: ["60", null, inTime.code] },
    { answer: [429, inTime, null], expected: [null, null, inTime.code] },
    { answer: [429, inTime, "32400"], expected: ["32400", "false", inTime.code] },
    { answer: [429, inTime, hours], expected: [hours, "false", inTime.code] },
    { answer: [429, usedUp, "32400"], expected: [null, "false", usedUp.code] },
    { answer: [200, usedUp, null], expected: [null, "false", usedUp.code] },
    { answer: [402, { message: "pay first" }, "32400"], expected: [null, "false", usedUp.code] },
    { answer: [402, "pay first", null], expected: [null, "false", usedUp.code] },
    { answer: [200, { message: "x", code: 402 }, null], expected: [null, "false", usedUp.code] },
  ];
  await using fake = new FakeProvider(({ body }) => {
    const [status, error, after] = cases[Number((body as { model: string }).model)]?.answer ?? [];
    const headers = after === null || after === undefined ? {} : { "retry-after": after };
    return Response.json({ error }, { status: status ?? 500, headers });
  });
  const backend = { name: "main", provider: "mine", base_url: fake.url, api_key_env: "THE_KEY" };
  await withApi(async (api) => {
    for (const [model, { expected }] of cases.entries()) {
      for (const stream of [false, true]) {
        const body = { messages: MESSAGES, model: String(model), stream };
        const response = await api.send({ request: OPENAI_COMPLETE, body });
        const { error } = await response.json();
        const [after, retry] = ["retry-after", "x-should-retry"]
          .map((name) => response.headers.get(name));
        assert.deepEqual([response.status, after, retry, error.code], [429, ...expected]);
      }
    }
  }, { config: { llm: { backends: [backend] } }, environment: { THE_KEY: KEY } });
});

Deno.test("clients of OpenAI's API find one model by its id or its bare name", async () => {
  await using fake = new FakeProvider(() =>
    Response.json({ data: [{ id: "gpt-5" }, { id: "meta/llama" }] })
  );
  const backends = ["main", "spare"].map((name) => ({
    name,
    provider: "mine",
    base_url: fake.url,
    block: name === "spare" ? ["gpt-5"] : [],
  }));
  await withApi(async (api) => {
    const path = "/v1/llm/openai/models";
    const { data } = await (await api.send({ request: `GET ${path}` })).json();
    const [gpt, llama, spareLlama] = data;
    assert.equal(data.length, 3);
    const table = [
      ["main/gpt-5", gpt],
      ["main%2Fgpt-5", gpt],
      ["gpt-5", gpt],
      ["main/meta/llama", llama],
      ["spare%2Fmeta%2Fllama", spareLlama],
      ["meta/llama", llama],
    ] as const;
    for (const [name, model] of table) {
      const response = await api.send({ who: "writer", request: `GET ${path}/${name}` });
      assert.deepEqual([response.status, await response.json()], [200, model], name);
    }
    for (const name of ["spare/gpt-5", "main", "gpt"]) {
      const response = await api.send({ request: `GET ${path}/${name}` });
      const message = `There is no model "${name}"`;
      assert.deepEqual([response.status, await response.json()], [404, {
        error: { message, type: "not_found_error", code: null },
      }]);
    }
    const guest = await api.send({ who: "guest", request: `GET ${path}/gpt-5` });
    assert.equal(guest.status, 401);
  }, { config: { llm: { backends } } });
});

Deno.test("every error below /v1/llm/openai has the form that OpenAI's SDKs read", async () => {
  await withApi(async (api) => {
    const table = [
      [{ who: "guest", request: OPENAI_COMPLETE }, 401, "authentication_error"],
      [{ who: "reader", request: OPENAI_COMPLETE }, 403, "permission_error"],
      [{ request: OPENAI_COMPLETE, body: {} }, 400, "invalid_request_error"],
      [{ request: OPENAI_COMPLETE, body: "{" }, 400, "invalid_request_error"],
      [{ request: OPENAI_COMPLETE, body: "x".repeat(2_000_000) }, 413, "invalid_request_error"],
      [{ request: OPENAI_COMPLETE, body: { messages: MESSAGES } }, 404, "not_found_error"],
      [{ request: "GET /v1/llm/openai/nothing" }, 404, "not_found_error"],
      [{ request: "DELETE /v1/llm/openai/models" }, 405, "invalid_request_error"],
    ] as const;
    for (const [request, status, type] of table) {
      const response = await api.send(request);
      assert.equal(response.status, status);
      const { error, ...rest } = await response.json();
      assert.deepEqual([rest, error.type, error.code], [{}, type, null]);
      assert.equal(typeof error.message, "string");
    }
  }, { config: { llm: { limits: { request_bytes: 1_000_000 } } } });
});

Deno.test("one agent cannot use up every call to models", async () => {
  const asked = Promise.withResolvers<void>();
  await using fake = new FakeProvider(async ({ left, body }) => {
    if ((body as { model: string }).model === "quick") {
      return Response.json({ choices: [{ index: 0, message: { content: "hi" } }] });
    }
    asked.resolve();
    await left;
    return new Response();
  });
  const backend = { name: "main", provider: "mine", base_url: fake.url };
  const limits = { calls: 2, calls_per_caller: 1 };
  await withApi(async (api) => {
    const request = { who: "writer", request: COMPLETE } as const;
    const held = api.send({ ...request, body: { messages: MESSAGES, model: "slow" } });
    await asked.promise;
    const quick = { messages: MESSAGES, model: "quick" };
    await api.expect([
      {
        ...request,
        body: quick,
        status: 429,
        matches: /Your slot .{1,2}calls.{1,2} is full with main\/slow since .* \(limit 1\)/,
      },
      { request: COMPLETE, body: quick, status: 200 },
    ]);
    await api.services.llm.gateway.close();
    await held;
  }, { config: { llm: { backends: [backend], limits } } });
});

Deno.test("a halt ends the running calls of agents, and refuses others, in the form of each door", async () => {
  const asked = Promise.withResolvers<void>();
  await using fake = new FakeProvider(() => {
    asked.resolve();
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) =>
        controller.enqueue(
          new TextEncoder().encode(
            `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "hi" } }] })}\n\n`,
          ),
        ),
    });
    return new Response(body);
  });
  const backend = { name: "main", provider: "mine", base_url: fake.url, api_key_env: "THE_KEY" };
  await withApi(async (api) => {
    const body = { messages: MESSAGES, model: "m", stream: true };
    const running = await api.send({ who: "writer", request: COMPLETE, body });
    assert.equal(running.status, 200);
    await asked.promise;
    await api.answer("POST /v1/halt", { reason: "drill" });
    const text = await running.text();
    assert.match(text, /All agents are halted: drill/);
    assert.doesNotMatch(text, /DONE/);
    await api.expect([
      { who: "writer", request: COMPLETE, body, status: 423, matches: /halted: drill/ },
    ]);
    const response = await api.send({ who: "writer", request: OPENAI_COMPLETE, body });
    const { error } = await response.json();
    assert.deepEqual([response.status, error.type], [423, "permission_error"]);
    assert.match(error.message, /halted: drill/);
  }, { config: { llm: { backends: [backend] } }, environment: { THE_KEY: KEY } });
});
