import assert from "node:assert/strict";
import { OPERATOR } from "../../../services/people/identity/mod.ts";
import type { TestServices } from "../../support/services.ts";
import { anAgent } from "../../support/services.ts";
import { byEverybody, withApi } from "../../support/scenarios.ts";
import { until } from "../../support/until.ts";

const MESSAGES = "GET /v1/agents/caller/messages";

function say({ inboxes }: TestServices, text: string, channel: string | null = null): void {
  const actor = { address: "192.0.2.7" };
  inboxes.take({
    id: `id-${text}`,
    time: Date.parse("2026-11-20T12:00:00Z"),
    sender: { ...actor, nick: "ann", account: null },
    command: "PRIVMSG",
    channel,
    receiver: channel === null ? { ...actor, nick: "caller", account: "caller" } : null,
    statusPrefix: "",
    text,
    answered: null,
    isRelayed: false,
  });
}

Deno.test("GET /v1/agents/{nick}/messages is open to the agent itself and the operator", async () => {
  await withApi(async (api) => {
    await anAgent(api.services, "other");
    const itself = ["reader", "writer", "passphrase", "operator"] as const;
    await api.expect([
      ...byEverybody(MESSAGES, itself, 200),
      ...byEverybody("GET /v1/agents/other/messages", ["operator"], 200),
      ...byEverybody("GET /v1/agents/nobody/messages", itself, 404),
      { request: `${MESSAGES}?limit=0`, status: 400, matches: /limit/ },
      { request: `${MESSAGES}?before=2026-01-01T00:00:00Z`, status: 400, matches: /before/ },
      { request: `${MESSAGES}?limit=201`, status: 400, matches: /limit/ },
      { request: `${MESSAGES}?wait_seconds=61`, status: 400, matches: /wait_seconds/ },
      { request: `${MESSAGES}?since=yesterday`, status: 400, matches: /since/ },
    ]);
  });
});

Deno.test("GET /v1/agents/{nick}/messages returns the same messages at every read", async () => {
  await withApi(async (api) => {
    say(api.services, "psst");
    say(api.services, "hello @all", "#general");
    const expected = [
      {
        id: "id-psst",
        kind: "message",
        from: "ann",
        account: null,
        channel: null,
        state: "queued",
        text: "psst",
        timestamp: "2026-11-20T12:00:00.000000Z",
        at: "2026-11-20T12:00:00.000000Z",
        reply_to: "ann",
      },
      {
        id: "id-hello @all",
        kind: "mention",
        from: "ann",
        account: null,
        channel: "#general",
        state: "queued",
        text: "hello @all",
        timestamp: "2026-11-20T12:00:00.000001Z",
        at: "2026-11-20T12:00:00.000001Z",
        reply_to: "#general",
      },
    ];
    assert.deepEqual(await api.answer(MESSAGES), expected);
    assert.deepEqual(await api.answer(MESSAGES), expected);
    assert.deepEqual(await api.answer(`${MESSAGES}?since=id-psst`), expected.slice(1));
    assert.deepEqual(await api.answer(`${MESSAGES}?limit=1`), expected.slice(1));
  });
});

Deno.test("what an agent has not read is shown until it is read by its id, and each once", async () => {
  await withApi(async (api) => {
    const { services } = api;
    const texts = async (query: string, who?: "reader") => {
      const response = await api.send({ request: `${MESSAGES}?${query}`, ...who && { who } });
      const messages = await response.json() as { text: string; reply_to?: string }[];
      return messages.map(({ text }) => text);
    };
    for (const text of ["one", "two", "three"]) say(services, text);
    assert.deepEqual(await texts("unread=true", "reader"), ["one", "two", "three"]);
    assert.deepEqual(await texts("unread=true&limit=2", "reader"), ["one", "two"]);
    assert.deepEqual(await texts("ids=id-one,id-three,none", "reader"), ["one", "three"]);
    assert.deepEqual(await texts("ids=id-one,id-two", "reader"), ["two"]);
    assert.deepEqual(await texts("unread=true", "reader"), []);
    assert.deepEqual(await texts("unread=false", "reader"), ["one", "two", "three"]);
    const waiting = texts("unread=true&wait_seconds=60", "reader");
    await until(() => api.services.inboxes.arrived === 3);
    say(services, "four");
    assert.deepEqual(await waiting, ["four"]);
    // The operator's reads are not the agent's.
    assert.deepEqual(await texts("ids=id-four"), ["four"]);
    assert.deepEqual(await texts("unread=true", "reader"), ["four"]);
    assert.deepEqual(await texts("since=id-three", "reader"), ["four"]);
    assert.deepEqual(await texts("unread=true", "reader"), []);
    await api.expect([{ request: `${MESSAGES}?unread=1`, status: 400, matches: /unread/ }]);
  });
});

Deno.test("GET /v1/agents/{nick}/messages waits, and ends with the agent's credential", async () => {
  await withApi(async (api) => {
    const request = `${MESSAGES}?since=2099-01-01T00:00:00Z&wait_seconds=60`;
    await api.send({ request: MESSAGES });
    const { inboxes } = api.services;
    const read = inboxes.read.bind(inboxes);
    let reads = 0;
    inboxes.read = (...query) => {
      reads++;
      return read(...query);
    };
    const waiting = api.send({ who: "reader", request });
    // An inbox that is loaded has the reader wait in the same turn of the event loop.
    await until(() => reads === 1);
    say(api.services, "wake up");
    assert.match(await (await waiting).text(), /^\[\{[^{]*"text":"wake up"[^{]*\}\]$/);
    const ended = api.send({ who: "writer", request });
    await until(() => reads === 2);
    await api.send({ request: "POST /v1/agents/caller/revoke" });
    assert.equal(await (await ended).text(), "[]");
  });
});

Deno.test("POST /v1/agents/{nick}/messages puts a message into the agent's inbox", async () => {
  await withApi(async (api) => {
    await anAgent(api.services, "other");
    const request = "POST /v1/agents/other/messages";
    const body = { text: "psst" };
    const speakers = ["writer", "passphrase", "operator"] as const;
    await api.expect([
      ...byEverybody(request, speakers, 204).map((scenario) => ({ ...scenario, body })),
      { request, body: { nick: "eve", text: "look" }, status: 204 },
      { who: "writer", request, body: { nick: "eve", text: "look" }, status: 403 },
      { request: "POST /v1/agents/nobody/messages", body, status: 503, matches: /bridge/ },
      { request: "POST /v1/agents/bridge/messages", body, status: 409, matches: /bridge/ },
      { who: "writer", request: "POST /v1/agents/Caller/messages", body, status: 400 },
      { request, body: {}, status: 400, matches: /text/ },
      { request, body: { text: "" }, status: 400 },
    ]);
    const messages = await api.services.inboxes.read("other", {}, OPERATOR);
    assert.deepEqual(messages.map(({ from, account, text }) => [from, account, text]), [
      ["caller", "caller", "psst"],
      ["caller", "caller", "psst"],
      ["admin", "admin", "psst"],
      ["bridge", "bridge", "psst"],
      ["eve", null, "look"],
    ]);
  });
});

Deno.test("POST /v1/agents/{nick}/messages/acknowledge removes entries, for the agent and the operator", async () => {
  await withApi(async (api) => {
    for (const text of ["one", "two", "three"]) say(api.services, text);
    const request = "POST /v1/agents/caller/messages/acknowledge";
    const none = { acknowledged: 0, unknown: ["none"], left: 3 };
    await api.expect([
      ...byEverybody(request, ["writer", "passphrase", "operator"], 200)
        .map((scenario) => ({ ...scenario, body: { ids: ["none"] } })),
      { request, body: {}, status: 400, matches: /Give either/ },
      { request, body: { ids: ["a"], up_to: "b" }, status: 400, matches: /Give either/ },
      { request, body: { ids: [] }, status: 400, matches: /ids/ },
      { request, body: { up_to: "none" }, status: 400, matches: /id of a message/ },
      { request: "POST /v1/agents/nobody/messages/acknowledge", body: { ids: ["a"] }, status: 404 },
    ]);
    assert.deepEqual(await api.answer(request, { ids: ["none"] }), none);
    const first = { acknowledged: 2, unknown: [], left: 1 };
    assert.deepEqual(await api.answer(request, { up_to: "id-two" }), first);
    const left = await api.answer(MESSAGES) as { text: string }[];
    assert.deepEqual(left.map(({ text }) => text), ["three"]);
    const head = await api.send({ who: "passphrase", request: MESSAGES.replace("GET", "HEAD") });
    assert.equal(head.status, 200);
    assert.deepEqual(await api.answer("GET /v1/agents/caller/summary"), {
      nick: "caller",
      total: 1,
      queued: 1,
      delivered: 0,
      read: 0,
      kinds: { message: 1 },
      oldest: "2026-11-20T12:00:00.000002Z",
    });
    const itself = ["reader", "writer", "passphrase", "operator"] as const;
    await api.expect(byEverybody("GET /v1/agents/caller/summary", itself, 200));
  });
});

Deno.test("a sender asks what became of its message, which it may send twice without harm", async () => {
  await withApi(async (api) => {
    await anAgent(api.services, "other");
    const request = "POST /v1/agents/other/messages";
    const send = async (body: Record<string, unknown>) => {
      const { status, headers } = await api.send({ who: "writer", request, body });
      assert.equal(status, 204);
      return headers.get("location");
    };
    const location = await send({ text: "psst", client_id: "c1" });
    assert.match(location ?? "", /^\/v1\/messages\/[^/]+$/);
    assert.equal(await send({ text: "psst", client_id: "c1" }), location);
    const [entry, ...others] = await api.services.inboxes.read("other", {}, OPERATOR);
    assert.deepEqual(others, []);
    const fate = await api.answer(`GET ${location}`) as Record<string, unknown>;
    const [receiver] = fate["receivers"] as { state_at: string; expires_at: string }[];
    assert.deepEqual({ ...fate, receivers: [] }, {
      id: entry?.id,
      client_id: "c1",
      timestamp: entry?.timestamp,
      receivers: [],
    });
    assert.deepEqual({ ...receiver, state_at: "", expires_at: "" }, {
      nick: "other",
      state: "queued",
      state_at: "",
      expires_at: "",
    });
    assert.match(receiver?.expires_at ?? "", /Z$/);
    const knowing = ["reader", "writer", "passphrase", "operator"] as const;
    await api.expect(byEverybody(`GET ${location}`, knowing, 200));
    await api.expect([
      { request: "GET /v1/messages/none", status: 404 },
      { request, body: { text: "x", client_id: "" }, status: 400, matches: /client_id/ },
    ]);
  });
});
