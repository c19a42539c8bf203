/** Which backend a request goes to, with which models and which key. */
import assert from "node:assert/strict";
import { answer, complete, KEY, withBackend } from "./support/gateway.ts";
import { FakeProvider } from "./support/provider.ts";
import { withServices } from "../../../support/services.ts";

const COMPLETION = {
  id: "x",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

Deno.test("a request goes to the backend that it names, or that its model belongs to", async () => {
  const answering = (name: string) =>
    new FakeProvider(() => Response.json({ ...COMPLETION, model: name }));
  await using first = answering("first");
  await using second = answering("second");
  const backends = [
    { name: "first", provider: "mine", base_url: first.url, models: ["a", "x/y"] },
    { name: "second", provider: "mine", base_url: second.url, models: ["b", "second/c", "a"] },
  ];
  const table: readonly (readonly [Record<string, unknown>, string, unknown])[] = [
    [{ model: "a" }, "first", "a"],
    [{ model: "b" }, "second", "b"],
    [{ model: "unknown" }, "first", "unknown"],
    [{ model: "x/y" }, "first", "x/y"],
    [{ model: "second/zz" }, "second", "zz"],
    [{ model: "second/a/b" }, "second", "a/b"],
    [{ model: "second/c" }, "second", "second/c"],
    [{ model: "a", backend: "second" }, "second", "a"],
    [{ model: "first/a", backend: "second" }, "second", "first/a"],
    [{ model: undefined }, "first", undefined],
    [{ model: undefined, backend: "second" }, "second", undefined],
  ];
  await withServices(async (services) => {
    for (const [request, backend, model] of table) {
      const label = JSON.stringify(request);
      assert.equal((await answer(services, request))["model"], backend, label);
      const { seen } = backend === "first" ? first : second;
      assert.equal((seen.at(-1)?.body as { model?: unknown }).model, model, label);
    }
    for (const request of [{ backend: "third" }, { model: "z/y" }, { model: "secnod/b" }]) {
      await assert.rejects(complete(services, request), { name: "NotFound" });
    }
  }, { config: { llm: { backends } } });
  await withServices(async (services) => {
    await assert.rejects(complete(services, {}), { name: "NotFound" });
  });
});

Deno.test("only the models that a backend allows are called and listed", async () => {
  const listed = ["gpt-5", "gpt-4-old", "o9", "gpt-4"].map((id) => ({ id }));
  await using fake = new FakeProvider(({ method }) =>
    Response.json(method === "GET" ? { data: listed } : COMPLETION)
  );
  const backend = {
    provider: "mine",
    base_url: fake.url,
    allow: ["gpt-*", "o?x"],
    block: ["*-old"],
  };
  await withBackend(backend, async (services) => {
    const { signal } = new AbortController();
    assert.deepEqual(await services.llm.gateway.models("main", signal), ["gpt-5", "gpt-4"]);
    for (const model of ["gpt-4", "main/gpt-4", "o1x"]) await answer(services, { model });
    for (const model of ["gpt-4-old", "main/gpt-4-old", "o9", "o12x", undefined]) {
      await assert.rejects(complete(services, { model }), { name: "Invalid", message: /model/ });
    }
  });
});

Deno.test("no spelling of a model's name gets past a backend's block list", async () => {
  const candidates = [{
    content: { role: "model", parts: [{ text: "hi" }] },
    finishReason: "STOP",
  }];
  await using fake = new FakeProvider(() => Response.json({ candidates }));
  const backend = { provider: "gemini", base_url: fake.url, block: ["ultra"] };
  await withBackend(backend, async (services) => {
    const spellings = ["ultra", "models/ultra", "main/models/ultra", "./models/ultra", "ULTRA"];
    const odd = [
      "models/models/ultra",
      "Models/ultra",
      "ultra ",
      "%75ltra",
      "models/./ultra",
      "models//ultra",
      "models\\ultra",
      "/models/ultra",
      "x/../ultra",
    ];
    for (const model of [...spellings, ...odd]) {
      await assert.rejects(
        complete(services, { model }),
        { name: "Invalid", message: /model/ },
        model,
      );
    }
    assert.deepEqual(fake.seen, []);
    await answer(services, { model: "models/flash" });
    assert.equal(fake.only.path, "/v1beta/models/flash:generateContent");
  });
  const others: readonly (readonly [string, string, readonly string[]])[] = [
    ["mine", "ultra", ["Ultra", " ultra", "ultra\n", "ultra:nitro"]],
    ["ollama", "ultra", [
      ...["ultra:latest", "library/ultra", "registry.ollama.ai/library/ultra:latest", "ULTRA"],
      ...["ultra@sha256:00", "library/ultra:latest@sha256:00"],
    ]],
    ["ollama", "ultra:latest", ["ultra", "library/ultra"]],
    ["bedrock", "acme.ultra-*", [
      ...["us.acme.ultra-v1:0", "us-gov.acme.ultra-v1:0"],
      "arn:aws:bedrock:us-east-1::foundation-model/acme.ultra-v1:0",
      "arn:aws:bedrock:us-east-1:123:inference-profile/global.acme.ultra-v1:0",
    ]],
  ];
  for (const [provider, blocked, spellings] of others) {
    await withBackend({ provider, base_url: fake.url, block: [blocked] }, async (services) => {
      const named = spellings.map((model) => ({ model, backend: "main" }));
      const instead = [{ models: ["flash", "ultra"] }, { fallbacks: "ultra" }];
      const requests = provider === "mine" ? [...named, ...instead] : named;
      for (const request of requests) {
        const refused = complete(services, request);
        const refusal = { name: "Invalid", message: /does not allow this one/ };
        await assert.rejects(refused, refusal, JSON.stringify(request));
      }
    });
  }
  assert.equal(fake.seen.length, 1);
});

Deno.test("a key goes only to its own provider, unless the configuration names it", async () => {
  await using fake = new FakeProvider(() => Response.json(COMPLETION));
  const environment = { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY };
  const backends = [{ name: "main", provider: "openai", base_url: fake.url }];
  await withServices(async (services) => {
    await answer(services, {});
    assert.equal(fake.only.headers.get("authorization"), null);
  }, { config: { llm: { backends } }, environment });
  const table = [
    ["MISSING_KEY", {}, /variable MISSING_KEY is not set/],
    ["EMPTY_KEY", { EMPTY_KEY: " " }, /EMPTY_KEY is not set/],
    ["ODD_KEY", { ODD_KEY: "a\nb" }, /ODD_KEY .*no usable key/],
    ["MY_ACCESS_KEY_ID", { MY_ACCESS_KEY_ID: "x" }, /MY_SECRET_ACCESS_KEY is not set/],
  ] as const;
  for (const [variable, variables, message] of table) {
    const named = [{ ...backends[0], api_key_env: variable }];
    await withServices(async (services) => {
      await assert.rejects(answer(services, {}), { name: "Unavailable", message });
    }, { config: { llm: { backends: named } }, environment: variables });
  }
});
