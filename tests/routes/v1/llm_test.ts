import assert from "node:assert/strict";
import { FakeProvider } from "../../services/llm/support/provider.ts";
import { eventTypes } from "../../support/services.ts";
import { byEverybody, withApi } from "../../support/scenarios.ts";

const BACKENDS = "/v1/llm/backends";
const OPENAI_COMPLETE = "POST /v1/llm/openai/chat/completions";
const COMPLETE = "POST /v1/llm/complete";
const KEY = "sk-PLANTED-0123456789";
const MESSAGES = [{ role: "user", content: "hello" }];

const CONFIGURED = { name: "fixed", provider: "ollama", base_url: "http://127.0.0.1:9" };

Deno.test("/v1/llm is the operator's alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody(`GET ${BACKENDS}`, ["operator"], 200),
      ...byEverybody(`POST ${BACKENDS}`, ["operator"], 400),
      ...byEverybody(`PUT ${BACKENDS}/nothing`, ["operator"], 404),
      ...byEverybody(`DELETE ${BACKENDS}/nothing`, ["operator"], 404),
      ...byEverybody(`GET ${BACKENDS}/nothing/models`, ["operator"], 404),
      ...byEverybody("POST /v1/llm/discover", ["operator"], 200),
      ...byEverybody("GET /v1/llm/known", ["operator"], 200),
      ...byEverybody(COMPLETE, ["writer", "passphrase", "operator"], 400),
    ]);
  });
});

Deno.test("a backend is made, listed, changed in part and removed", async () => {
  await withApi(async (api) => {
    assert.deepEqual(await api.answer(`GET ${BACKENDS}`), []);
    const body = { name: "main", provider: "openai", base_url: "", api_key_env: "MY_KEY" };
    const created = await api.send({ request: `POST ${BACKENDS}`, body });
    assert.equal(created.status, 201);
    const backend = { ...body, models: [], allow: [], block: [], source: "api" };
    assert.deepEqual(await created.json(), backend);
    await api.expect([{ request: `POST ${BACKENDS}`, body, status: 409, matches: /main/ }]);

    const change = { base_url: "https://llm.example/v1/", allow: ["gpt-*"] };
    const changed = { ...backend, base_url: "https://llm.example/v1", allow: ["gpt-*"] };
    assert.deepEqual(await api.answer(`PUT ${BACKENDS}/main`, change), changed);
    assert.deepEqual(await api.answer(`PUT ${BACKENDS}/main`, {}), changed);
    assert.deepEqual(await api.answer(`PUT ${BACKENDS}/main`, changed), changed);
    assert.deepEqual(await api.answer(`GET ${BACKENDS}`), [changed]);

    await api.expect([
      { request: `DELETE ${BACKENDS}/main`, status: 204 },
      { request: `DELETE ${BACKENDS}/main`, status: 404 },
      { request: `PUT ${BACKENDS}/main`, body: {}, status: 404 },
      { request: `GET ${BACKENDS}/main/models`, status: 404 },
      { request: COMPLETE, body: { messages: MESSAGES, backend: "main" }, status: 404 },
      { request: COMPLETE, body: { messages: MESSAGES }, status: 404 },
    ]);
    const types = (await eventTypes(api.services)).filter((type) => type.startsWith("llm"));
    assert.deepEqual(types, [
      "llm_backend.created",
      "llm_backend.changed",
      "llm_backend.changed",
      "llm_backend.deleted",
    ]);
  });
});

Deno.test("an impossible backend is refused, naming the field", async () => {
  const whole = { name: "main", provider: "openai" };
  const fields: readonly (readonly [string, unknown])[] = [
    ["provider", 7],
    ["provider", "Open AI"],
    ["base_url", null],
    ["base_url", "llm.example/v1"],
    ["base_url", "file:///etc/passwd"],
    ["base_url", "https://user:secret@llm.example"],
    ["base_url", "https://llm.example/?key=x"],
    ["api_key_env", "NOT A NAME"],
    ["api_key_env", "MUSTER_API_TOKEN"],
    ["models", "gpt"],
    ["allow", [""]],
    ["block", Array.from({ length: 101 }, () => "x")],
    ["api_key", KEY],
    ["api_key", null],
  ];
  const sentence = (field: string) => new RegExp(`"\\\\"${field}(?:\\.\\d+)?\\\\" (?:must|is) `);
  const names = [undefined, "", "Main", "a/b", "-a", "a-", "x".repeat(65), "ü"];
  await withApi(async (api) => {
    await api.expect([
      ...names.map((name) => (
        { request: `POST ${BACKENDS}`, body: { ...whole, name }, status: 400, matches: /name/ }
      )),
      ...fields.map(([field, value]) => ({
        request: `POST ${BACKENDS}`,
        body: { ...whole, [field]: value },
        status: 400,
        matches: sentence(field),
      })),
      { request: `POST ${BACKENDS}`, body: { name: "main" }, status: 400, matches: /provider/ },
      {
        request: `POST ${BACKENDS}`,
        body: { name: "main", provider: "mine" },
        status: 400,
        matches: /base_url/,
      },
      { request: `POST ${BACKENDS}`, body: whole, status: 201 },
      ...fields.map(([field, value]) => ({
        request: `PUT ${BACKENDS}/main`,
        body: { [field]: value },
        status: 400,
        matches: sentence(field),
      })),
      {
        request: `PUT ${BACKENDS}/main`,
        body: { provider: "mine" },
        status: 400,
        matches: /base_url/,
      },
      { request: `PUT ${BACKENDS}/main`, body: { name: "x" }, status: 400, matches: /renamed/ },
    ]);
  });
});

Deno.test("a configured backend comes first and changes only in the configuration", async () => {
  await withApi(async (api) => {
    await api.expect([
      { request: `POST ${BACKENDS}`, body: { name: "a", provider: "groq" }, status: 201 },
      { request: `POST ${BACKENDS}`, body: { name: "fixed", provider: "groq" }, status: 409 },
      { request: `PUT ${BACKENDS}/fixed`, body: { allow: [] }, status: 409, matches: /config/ },
      { request: `DELETE ${BACKENDS}/fixed`, status: 409, matches: /configuration/ },
    ]);
    const backends = await api.answer(`GET ${BACKENDS}`) as { name: string; source: string }[];
    assert.deepEqual(backends.map(({ name, source }) => [name, source]), [
      ["fixed", "configuration"],
      ["a", "api"],
    ]);
  }, { config: { llm: { backends: [CONFIGURED] } } });
});

Deno.test("a live query returns models in the provider's order and keeps them for the listing", async () => {
  const table: readonly (readonly [string, string, unknown, string])[] = [
    ["mine", "/models", { data: [{ id: "b" }, { id: "a" }, { id: "b" }] }, "authorization"],
    ["mine", "/models", [{ id: "b" }, { id: "a" }], "authorization"],
    ["anthropic", "/v1/models?limit=1000", {
      data: [{ id: "b" }, { id: "a" }],
      has_more: false,
      last_id: "a",
    }, "x-api-key"],
    ["gemini", "/v1beta/models?pageSize=1000", {
      models: [
        { name: "models/b", supportedGenerationMethods: ["generateContent"] },
        { name: "models/embedding", supportedGenerationMethods: ["embedContent"] },
        { name: "models/a", supportedGenerationMethods: ["countTokens", "generateContent"] },
      ],
    }, "x-goog-api-key"],
    ["bedrock", "/foundation-models", {
      modelSummaries: [{ modelId: "b" }, { modelId: "a" }],
    }, "authorization"],
    ["ollama", "/api/tags", { models: [{ name: "b" }, { name: "a" }] }, "authorization"],
  ];
  for (const [provider, path, listed, header] of table) {
    await using fake = new FakeProvider(() => Response.json(listed));
    await withApi(async (api) => {
      const body = { name: "main", provider, base_url: fake.url, api_key_env: "THE_KEY" };
      await api.expect([{ request: `POST ${BACKENDS}`, body, status: 201 }]);
      assert.deepEqual(await api.answer(`GET ${BACKENDS}/main/models`), ["b", "a"], provider);
      assert.equal(fake.only.path, path);
      assert.ok(fake.only.headers.get(header)?.endsWith(KEY), provider);
      const [backend] = await api.answer(`GET ${BACKENDS}`) as { models: string[] }[];
      assert.deepEqual(backend?.models, ["b", "a"]);
      const moved = { base_url: "http://127.0.0.1:9" };
      const { models } = await api.answer(`PUT ${BACKENDS}/main`, moved) as { models: string[] };
      assert.deepEqual(models, []);
    }, { environment: { THE_KEY: KEY } });
  }
});

Deno.test("pages of models are joined", async () => {
  await using fake = new FakeProvider(({ path }) => {
    const rest = path.includes("after_id=b%26");
    const data = rest ? [{ id: "a" }] : [{ id: "b&" }];
    return Response.json({ data, has_more: !rest, last_id: data[0]?.id });
  });
  await withApi(async (api) => {
    assert.deepEqual(await api.answer(`GET ${BACKENDS}/main/models`), ["b&", "a"]);
  }, {
    config: { llm: { backends: [{ name: "main", provider: "anthropic", base_url: fake.url }] } },
  });
});

Deno.test("discovery names the providers whose key is in the environment, and adds no backend", async () => {
  const environment = {
    HF_TOKEN: KEY,
    OPENAI_API_KEY: KEY,
    OPENAI_KEY: KEY,
    GROQ_API_KEY: "",
    AWS_ACCESS_KEY_ID: KEY,
    AWS_REGION: "eu-west-1",
    UNRELATED: KEY,
  };
  await withApi(async (api) => {
    const entry = (name: string, base_url: string, api_key_env: string, configured = false) => (
      { name, provider: name, base_url, api_key_env, configured }
    );
    const body = { name: "main", provider: "openai" };
    await api.expect([{ request: `POST ${BACKENDS}`, body, status: 201 }]);
    assert.deepEqual(await api.answer("POST /v1/llm/discover"), [
      entry("bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com", "AWS_ACCESS_KEY_ID"),
      entry("huggingface", "https://api-inference.huggingface.co/v1", "HF_TOKEN"),
      entry("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", true),
    ]);
    assert.equal((await api.answer(`GET ${BACKENDS}`) as unknown[]).length, 1);
  }, { environment });
});

Deno.test("the known providers are the 21 of the reference", async () => {
  await withApi(async (api) => {
    const known = await api.answer("GET /v1/llm/known") as Record<string, string>[];
    const names = known.map(({ name }) => name);
    assert.deepEqual(names, names.toSorted());
    assert.deepEqual(
      names.join(" "),
      "ai21 anthropic anythingllm bedrock cerebras deepseek fireworks gemini groq huggingface " +
        "jan litellm lmstudio localai mistral ollama openai openrouter together vllm xai",
    );
    for (const provider of known) {
      assert.deepEqual(Object.keys(provider), ["name", "base_url", "api_key_env", "api"]);
      assert.match(provider["base_url"] ?? "", /^https?:\/\//);
    }
    assert.deepEqual(known.find(({ name }) => name === "anthropic"), {
      name: "anthropic",
      base_url: "https://api.anthropic.com",
      api_key_env: "ANTHROPIC_API_KEY",
      api: "anthropic",
    });
  });
});

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
  });
});

Deno.test("one agent cannot use up every call to models", async () => {
  const asked = Promise.withResolvers<void>();
  await using fake = new FakeProvider(async ({ left, body }) => {
    if ((body as { model: string }).model === "quick") return Response.json({ choices: [] });
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
        matches: /You already have the maximum number of model calls running \(1\)/,
      },
      { request: COMPLETE, body: quick, status: 200 },
    ]);
    await api.services.llm.gateway.close();
    await held;
  }, { config: { llm: { backends: [backend], limits } } });
});
