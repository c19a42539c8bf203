import assert from "node:assert/strict";
import { byEverybody, type TestApi, withApi } from "../../support/scenarios.ts";

const PUT = "PUT /v1/settings/policies";

type Policies = Record<string, Record<string, unknown>>;

async function read(api: TestApi): Promise<Policies> {
  return await api.answer("GET /v1/settings/policies") as Policies;
}

const WITH_BRIDGE = { config: { bridge: { enabled: true } } };

Deno.test("settings are the operator's alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody("GET /v1/settings", ["operator"], 200),
      ...byEverybody("GET /v1/settings/policies", ["operator"], 200),
      ...byEverybody(PUT, ["operator"], 400),
    ]);
  });
});

Deno.test("policies are keyed by bot, and each says whether it is enabled", async () => {
  await withApi(async (api) => {
    const policies = await read(api);
    assert.deepEqual(await api.answer("GET /v1/settings"), { policies });
    assert.deepEqual(policies["bridge"], { enabled: true, web_user_ttl_minutes: 5 });
    assert.deepEqual(policies["warden"], {
      enabled: false,
      messages_per_second: 5,
      burst: 10,
      cooldown_sec: 60,
    });
    for (const [bot, settings] of Object.entries(policies)) {
      assert.equal(typeof settings["enabled"], "boolean", bot);
    }
  }, WITH_BRIDGE);
});

Deno.test("PUT merges deeply and returns the whole", async () => {
  await withApi(async (api) => {
    const before = await read(api);
    const changes: readonly (readonly [unknown, Policies])[] = [
      [{ oracle: { enabled: true, backend: "not-there-yet" } }, {
        oracle: { enabled: true, backend: "not-there-yet" },
      }],
      [{ oracle: { model: "small", extra: { deep: { a: 1, b: [1, null] } } } }, {
        oracle: {
          enabled: true,
          backend: "not-there-yet",
          model: "small",
          extra: { deep: { a: 1, b: [1, null] } },
        },
      }],
      [{ oracle: { backend: null, model: null, extra: { deep: { a: null, c: 2 } } } }, {
        oracle: { enabled: true, extra: { deep: { b: [1, null], c: 2 } } },
      }],
      [{ mine: { volume: 11 }, herald: { routes: { ci: "#ci", cd: "#cd" } } }, {
        mine: { enabled: false, volume: 11 },
        herald: { ...before["herald"], routes: { ci: "#ci", cd: "#cd" } },
      }],
      [{ mine: { enabled: true, volume: null }, herald: { routes: { ci: null } } }, {
        mine: { enabled: true },
        herald: { ...before["herald"], routes: { cd: "#cd" } },
      }],
      [{ constructor: { enabled: true, toString: 1 } }, {
        constructor: { enabled: true, toString: 1 },
      }],
      [{}, {}],
    ];
    let expected = before;
    for (const [body, changed] of changes) {
      expected = { ...expected, ...changed };
      assert.deepEqual(await api.answer(PUT, body), expected, JSON.stringify(body));
      assert.deepEqual(await read(api), expected);
    }
    const { mine: _mine, oracle: _oracle, ...rest } = expected;
    assert.deepEqual(await api.answer(PUT, { mine: null, oracle: null }), rest);
  });
});

Deno.test("PUT refuses an invalid policy, names the field, and changes nothing", async () => {
  const table: readonly (readonly [unknown, RegExp])[] = [
    ["", /JSON/],
    ["{", /JSON/],
    [[], /object/],
    ["null", /object/],
    ["7", /object/],
    [{ oracle: true }, /oracle/],
    [{ oracle: [] }, /oracle/],
    [{ oracle: { enabled: "yes" } }, /oracle\.enabled/],
    [{ oracle: { enabled: 1 } }, /oracle\.enabled/],
    [{ oracle: { backend: 7 } }, /oracle\.backend/],
    [{ mine: 7 }, /mine/],
    [{ mine: { enabled: "true" } }, /mine\.enabled/],
    [{ bridge: { web_user_ttl_minutes: 0 } }, /web_user_ttl_minutes/],
    [{ bridge: { web_user_ttl_minutes: "5" } }, /web_user_ttl_minutes/],
    [{ bridge: { enabled: false } }, /bridge\.enabled/],
    [{ oracle: { api_key: "s3cret" } }, /api_key.*is a secret/],
    [{ warden: { burst: -1 } }, /warden\.burst/],
    [{ warden: { burst: 1.5 } }, /warden\.burst/],
    [{ scribe: { format: "xml" } }, /scribe\.format/],
    [{ sentinel: { alert_nicks: "ann" } }, /sentinel\.alert_nicks/],
    [{ sentinel: { alert_nicks: [7] } }, /sentinel\.alert_nicks\[0\]/],
    [{ herald: { routes: { ci: 7 } } }, /herald\.routes\.ci/],
    [{ herald: { channel: "#a b" } }, /herald\.channel.* must be the name of a channel/],
    [{ herald: { routes: { ci: "#a,b" } } }, /herald\.routes\.ci.* must be the name of a channel/],
    [{ shepherd: { channels: ["#ok", "#a b"] } }, /channels.* must be the name of a channel/],
    [{ sentinel: { channel: "#ok, #" } }, /sentinel\.channel.* must be the names of channels/],
    [{ steward: { channel: "#ok,#" } }, /steward\.channel.* must be the names of channels/],
    [{ snitch: { alert_channel: "#" } }, /snitch\.alert_channel.* must be the name of a channel/],
    [{ "a\nb": { enabled: true } }, /name of a bot/],
    [{ ["x".repeat(65)]: { enabled: true } }, /name of a bot/],
    ['{"mine":{"x":1e999}}', /too large/],
    [`{"mine":${'{"x":'.repeat(20)}1${"}".repeat(20)}}`, /deep/],
    [`{"mine":{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`, /deep/],
  ];
  await withApi(async (api) => {
    const before = await read(api);
    await api.expect(
      table.map(([body, matches]) => ({ request: PUT, body, status: 400, matches })),
    );
    await api.expect([
      { request: PUT, body: { mine: { text: "x".repeat(70_000) } }, status: 413, matches: /65536/ },
      { request: "POST /v1/settings/policies", body: {}, status: 405 },
      { request: "PUT /v1/settings", body: {}, status: 405 },
    ]);
    assert.deepEqual(await read(api), before);
    assert.deepEqual((await api.services.eventLog.read({ types: ["policy.*"] })).events, []);
  }, WITH_BRIDGE);
});

Deno.test("PUT stores policies without effect and warns of them in a header", async () => {
  const table: readonly (readonly [unknown, readonly string[] | null])[] = [
    [{ bridge: { web_user_ttl_minutes: 7 } }, null],
    [{ warden: { burst: null, gone: null } }, null],
    [{ bridge: { web_user_ttl_minute: 7 } }, [
      'There is no field of "bridge" called "web_user_ttl_minute"; ' +
      'did you mean "web_user_ttl_minutes"?',
    ]],
    [{ wardn: { enabled: true } }, ['There is no bot called "wardn"; did you mean "warden"?']],
    [{ oracle: { backend: "mian" } }, [
      'There is no LLM backend called "mian"; did you mean "main"?',
    ]],
    [{ oracle: { backend: "main" }, sentinel: { backend: "" } }, null],
    [{ "bøt": { enabled: true } }, ['There is no bot called "bøt"']],
    [{ "bøt": null }, null],
  ];
  await withApi(async (api) => {
    const backend = { name: "main", provider: "ollama" };
    await api.expect([{ request: "POST /v1/llm/backends", body: backend, status: 201 }]);
    for (const [body, warnings] of table) {
      const response = await api.send({ request: PUT, body });
      assert.equal(response.status, 200);
      const header = response.headers.get("X-Muster-Warnings");
      assert.deepEqual(header === null ? null : JSON.parse(header), warnings);
      assert.match(header ?? "", /^[\x20-\x7e]*$/);
    }
    assert.deepEqual((await read(api))["wardn"], { enabled: true });
  });
});

Deno.test("no key of a policy reaches the prototype of anything", async () => {
  await withApi(async (api) => {
    const body = '{"__proto__":{"polluted":1},"mine":{"enabled":true,"__proto__":{"polluted":1},' +
      '"x":{"__proto__":{"polluted":1},"y":2}}}';
    const response = await api.send({ request: PUT, body });
    assert.equal(response.status, 200);
    assert.deepEqual((await read(api))["mine"], { enabled: true, x: { y: 2 } });
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });
});

Deno.test("without the policy store there are no settings, and the answer says why", async () => {
  await withApi(async (api) => {
    const matches = /policies\.enabled/;
    await api.with({ policies: null }).expect([
      { request: "GET /v1/settings", status: 404, matches },
      { request: PUT, body: {}, status: 404, matches },
    ]);
  });
});
