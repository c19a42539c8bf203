import assert from "node:assert/strict";
import { FakeProvider } from "../../services/models/llm/support/provider.ts";
import { eventTypes } from "../../support/services.ts";
import { byEverybody, withApi } from "../../support/scenarios.ts";

const BACKENDS = "/v1/llm/backends";
const COMPLETE = "POST /v1/llm/complete";
const KEY = "sk-PLANTED-0123456789";
const MESSAGES = [{ role: "user", content: "hello" }];

const CONFIGURED = { name: "fixed", provider: "ollama", base_url: "http://127.0.0.1:9" };

Deno.test("/v1/llm is the operator's alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody(`GET ${BACKENDS}`, ["operator"], 200),
      ...byEverybody(`POST ${BACKENDS}`, ["operator"], 400),
      ...byEverybody(`PUT ${BACKENDS}/nothing`, ["operator"], 400),
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
  const sentence = (field: string) => new RegExp(`"\\\\"${field}(?:\\[\\d+\\])?\\\\" (?:must|is) `);
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
      {
        request: `POST ${BACKENDS}`,
        body: { name: "main", provider: "opnai" },
        status: 400,
        matches: /provider \\"opnai\\"; did you mean \\"openai\\"\?/,
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
