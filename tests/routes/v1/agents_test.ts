import assert from "node:assert/strict";
import { BY_OPERATOR, eventTypes } from "../../support/services.ts";
import { withApi } from "../../support/scenarios.ts";

Deno.test("POST /v1/agents/register answers with credentials, once", async () => {
  await withApi(async (api) => {
    const body = { nick: "coder", channels: ["dev"], permissions: [] };
    const registration = await api.answer("POST /v1/agents/register", body);
    assert.deepEqual(withoutPassphrase(registration), {
      nick: "coder",
      credentials: { nick: "coder", passphrase: "" },
      server: "irc://irc.example:6667",
    });
    assert.deepEqual(await api.answer("GET /v1/agents/CODER"), {
      nick: "coder",
      type: "worker",
      channels: ["#dev"],
      revoked: false,
      paused: false,
      pause_reason: null,
      created_at: "2026-11-20T12:00:00.000Z",
      last_seen: null,
      online: false,
      state: "away",
      quiet_minutes: null,
      messages_per_minute: 0,
      rate_limit: null,
    });
    const request = "POST /v1/agents/register";
    await api.expect([
      { request, body, status: 409, matches: /coder.* taken/ },
      { request, body: { nick: "Caller" }, status: 409 },
      { request, body: { nick: "oracle" }, status: 409, matches: /reserved/ },
      { request, body: { nick: "Everyone" }, status: 409, matches: /reserved/ },
      { request, body: { nick: "guest" }, status: 409, matches: /reserved/ },
      { request: "GET /v1/agents", status: 200, matches: /^\[.*"caller".*"coder".*\]$/ },
    ]);
  });
});

Deno.test("POST /v1/agents/register names the field that is wrong", async () => {
  const request = "POST /v1/agents/register";
  const table: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /"?nick/],
    ["", /body|nick/],
    ["{", /JSON/],
    ["nick=coder", /JSON/],
    ["[]", /body/],
    ["null", /body/],
    [{}, /nick.* required/],
    [{ nick: null }, /nick/],
    [{ nick: 7 }, /nick.* must be a string/],
    [{ nick: "" }, /nick/],
    [{ nick: "two words" }, /nick/],
    [{ nick: "1st" }, /nick/],
    [{ nick: "x".repeat(65) }, /nick/],
    [{ nick: "a", type: "boss" }, /type/],
    [{ nick: "a", type: 1 }, /type/],
    [{ nick: "a", channels: "dev" }, /channels/],
    [{ nick: "a", channels: ["ok", "not ok"] }, /channels/],
    [{ nick: "a", channels: ["#"] }, /channels/],
    [{ nick: "a", channels: [1] }, /channels/],
  ];
  await withApi(async (api) => {
    await api.expect(table.map(([body, matches]) => ({ request, body, status: 400, matches })));
    await api.expect([{ request, body: { nick: "x".repeat(2_000_000) }, status: 413 }]);
    assert.equal(api.services.agents.counts().total, 1);
  });
});

Deno.test("an agent is registered, rotated, revoked and deleted as the contract says", async () => {
  await withApi(async (api) => {
    await api.expect([
      { request: "POST /v1/agents/register", body: { nick: "coder" }, status: 200 },
      {
        request: "POST /v1/agents/Coder/rotate",
        status: 200,
        matches: /"passphrase":"[0-9a-f]{64}"/,
      },
      { request: "POST /v1/agents/coder/rotate", body: "whatever", status: 400 },
      { request: "POST /v1/agents/coder/rotate", body: "", status: 200 },
      { request: "POST /v1/agents/coder/revoke", body: {}, status: 204 },
      { request: "GET /v1/agents/coder", status: 200, matches: /"revoked":true/ },
      { request: "POST /v1/agents/coder/revoke", status: 409 },
      { request: "POST /v1/agents/coder/rotate", status: 409 },
      { request: "POST /v1/agents/coder/adopt", status: 409 },
      { request: "POST /v1/agents/register", body: { nick: "coder" }, status: 409 },
      { request: "DELETE /v1/agents/coder", status: 204 },
      { request: "DELETE /v1/agents/coder", status: 404 },
      { request: "GET /v1/agents/coder", status: 404, matches: /"coder/ },
      { request: "POST /v1/agents/register", body: { nick: "coder" }, status: 200 },
    ]);
  });
});

Deno.test("POST /v1/agents/{nick}/adopt takes a body, an empty one, or none", async () => {
  await withApi(async (api) => {
    for (const account of ["ann", "bob", "cid", "dan"]) {
      await api.services.ircAccounts.create({ account, password: "correct horse" }, BY_OPERATOR);
    }
    const channels = ["ops"];
    await api.expect([
      {
        request: "POST /v1/agents/ann/adopt",
        status: 200,
        matches: /"type":"worker","channels":\[\]/,
      },
      { request: "POST /v1/agents/bob/adopt", body: "", status: 200, matches: /"nick":"bob"/ },
      { request: "POST /v1/agents/cid/adopt", body: {}, status: 200 },
      {
        request: "POST /v1/agents/dan/adopt",
        body: { type: "boss" },
        status: 400,
        matches: /type/,
      },
      { request: "POST /v1/agents/dan/adopt", body: "{", status: 400 },
      { request: "POST /v1/agents/dan/adopt", body: { channels }, status: 200, matches: /"#ops"/ },
      { request: "POST /v1/agents/ann/adopt", status: 409 },
      { request: "POST /v1/agents/eve/adopt", status: 404 },
    ]);
  });
});

Deno.test("the operator pauses an agent, resumes it and sets its rate", async () => {
  await withApi(async (api) => {
    const [pause, resume] = ["POST /v1/agents/caller/pause", "POST /v1/agents/caller/resume"];
    const patch = "PATCH /v1/agents/caller";
    const rate_limit = { messages_per_second: 0.5, burst: 10 };
    await api.expect([
      { request: resume, status: 204 },
      { request: pause, status: 204 },
      {
        request: "GET /v1/agents/caller",
        status: 200,
        matches: /"paused":true,"pause_reason":null/,
      },
      { request: pause, body: { reason: "" }, status: 400, matches: /reason/ },
      { request: pause, body: { reason: "x".repeat(201) }, status: 400, matches: /reason/ },
      { request: pause, body: { reason: "a\nb" }, status: 400, matches: /reason/ },
      { request: pause, body: { reason: "too loud" }, status: 204 },
      { request: pause, body: { reason: "too loud" }, status: 204 },
      { request: "GET /v1/agents/caller", status: 200, matches: /"pause_reason":"too loud"/ },
      { request: resume, status: 204 },
      { request: "GET /v1/agents/caller", status: 200, matches: /"paused":false/ },
      { request: patch, body: {}, status: 400, matches: /rate_limit/ },
      { request: patch, body: { rate_limit: { burst: 1 } }, status: 400, matches: /per_second/ },
      {
        request: patch,
        body: { rate_limit: { messages_per_second: 0, burst: 1 } },
        status: 400,
        matches: /messages_per_second.* at least/,
      },
      { request: patch, body: { rate_limit: { ...rate_limit, burst: 1.5 } }, status: 400 },
      { request: patch, body: { rate_limit }, status: 200, matches: /"messages_per_second":0.5/ },
      { request: patch, body: { rate_limit: null }, status: 200, matches: /"rate_limit":null/ },
      {
        request: "POST /v1/agents/register",
        body: { nick: "slow", rate_limit },
        status: 200,
      },
      { request: "GET /v1/agents/slow", status: 200, matches: /"burst":10/ },
      { request: "POST /v1/agents/slow/revoke", status: 204 },
      { request: "POST /v1/agents/slow/pause", status: 409, matches: /revoked/ },
      { request: "POST /v1/agents/slow/resume", status: 409 },
      { request: "PATCH /v1/agents/slow", body: { rate_limit }, status: 409 },
    ]);
    const logged = await eventTypes(api.services);
    assert.deepEqual(logged.filter((type) => /paused|resumed|rate/.test(type)), [
      "agent.paused",
      "agent.paused",
      "agent.resumed",
      "agent.rate_changed",
      "agent.rate_changed",
      "agent.rate_changed",
    ]);
  });
});

Deno.test("a revoked agent's credentials open nothing", async () => {
  await withApi(async (api) => {
    await api.expect([{ request: "POST /v1/agents/caller/revoke", status: 204 }]);
    await api.expect(
      (["reader", "writer", "passphrase"] as const).map((who) => (
        { who, request: "GET /v1/agents", status: 401 }
      )),
    );
  });
});

/** The registration with an empty passphrase, after a look at the one it has. */
function withoutPassphrase(registration: unknown): unknown {
  const text = JSON.stringify(registration);
  assert.match(text, /"passphrase":"[0-9a-f]{64}"/);
  return JSON.parse(text.replace(/"passphrase":"[0-9a-f]{64}"/, '"passphrase":""'));
}

Deno.test("the list has each agent as its own page has it, through every change", async () => {
  await withApi(async (api) => {
    const { services } = api;
    const compare = async (changed: string) => {
      const list = await (await api.send({ request: "GET /v1/agents" })).text();
      const nicks = services.agents.list().map(({ nick }) => nick);
      const each = nicks.map(async (nick) =>
        await (await api.send({ request: `GET /v1/agents/${nick}` })).text()
      );
      assert.equal(list, `[${(await Promise.all(each)).join()}]`, changed);
      const { agents: total } = await api.answer("GET /v1/status") as { agents: number };
      assert.equal(total, nicks.length, changed);
      const { active } = services.agents.counts();
      const living = services.agents.list().filter(({ revoked }) => !revoked);
      assert.equal(active, living.length, changed);
    };
    await compare("at first");
    const rate_limit = { messages_per_second: 0.5, burst: 10 };
    const changes: readonly [string, unknown?][] = [
      ["POST /v1/agents/register", { nick: "Zoe", channels: ["#a", "#b"], type: "observer" }],
      ["POST /v1/agents/register", { nick: "adam", rate_limit }],
      ["PATCH /v1/agents/zoe", { rate_limit }],
      ["POST /v1/agents/zoe/pause", { reason: 'say "no"' }],
      ["POST /v1/agents/zoe/resume"],
      ["POST /v1/agents/adam/rotate"],
      ["POST /v1/agents/adam/revoke"],
      ["DELETE /v1/agents/adam"],
      ["POST /v1/agents/register", { nick: "Adam" }],
    ];
    for (const [request, body] of changes) {
      const response = await api.send({ request, ...(body === undefined ? {} : { body }) });
      assert.ok(response.ok, `${request}: ${await response.text()}`);
      await compare(request);
    }
    services.agents.touchNick("zoe");
    await compare("a call");
    services.clock.advance(3 * 60_000);
    await compare("a while later");
    services.sessions.online.add("zoe");
    await compare("a session");
    services.agents.sendLimits.sent("zoe");
    await compare("a message");
    assert.deepEqual(services.agents.list().map(({ nick }) => nick), ["Adam", "caller", "Zoe"]);
  });
});

Deno.test("pages of agents are together the whole list", async () => {
  await withApi(async (api) => {
    const nicks = ["Beta", "alpha", "delta", "Gamma"];
    for (const nick of nicks) await api.answer("POST /v1/agents/register", { nick });
    const page = async (query: string) => {
      const agents = await api.answer(`GET /v1/agents?${query}`) as { nick: string }[];
      return agents.map(({ nick }) => nick);
    };
    assert.deepEqual(await page("limit=2"), ["alpha", "Beta"]);
    assert.deepEqual(await page("limit=2&after=BETA"), ["caller", "delta"]);
    assert.deepEqual(await page("limit=2&after=delta"), ["Gamma"]);
    assert.deepEqual(await page("after=Gamma"), []);
    assert.deepEqual(await page("after=bzz"), ["caller", "delta", "Gamma"]);
    await api.expect([
      { request: "GET /v1/agents?limit=0", status: 400, matches: /limit/ },
      { request: "GET /v1/agents?limit=1001", status: 400, matches: /limit/ },
      { request: "GET /v1/agents?after=", status: 400, matches: /after/ },
      { who: "reader", request: "GET /v1/agents?limit=1", status: 200 },
    ]);
  });
});
