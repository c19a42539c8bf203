import assert from "node:assert/strict";
import { registrationSchema } from "../../../services/people/agents/schemas.ts";
import { EventReader } from "../../support/event_reader.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { byEverybody, type TestApi, withApi } from "../../support/scenarios.ts";

interface Page {
  readonly events: readonly { readonly seq: number; readonly type: string }[];
  readonly cursor: number;
  readonly more: boolean;
}

async function open(api: TestApi, query = "", lastEventId?: number): Promise<EventReader> {
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (lastEventId !== undefined) headers["last-event-id"] = String(lastEventId);
  return new EventReader(await api.send({ request: `GET /v1/events${query}`, headers }));
}

async function list(api: TestApi, query = ""): Promise<Page> {
  return await api.answer(`GET /v1/events${query}`) as Page;
}

async function register(api: TestApi, ...nicks: string[]): Promise<void> {
  await Promise.all(
    nicks.map((nick) =>
      api.services.agents.register(registrationSchema.parse({ nick }), BY_OPERATOR)
    ),
  );
}

Deno.test("the event log is the operator's alone", async () => {
  await withApi(async (api) => {
    await api.expect(byEverybody("GET /v1/events", ["operator"], 200));
  });
});

Deno.test("GET /v1/events returns the log in pages, and only the requested types", async () => {
  await withApi(async (api) => {
    const { cursor: start } = await list(api);
    await register(api, "one", "two", "three");
    await api.send({ request: "POST /v1/agents/two/revoke" });
    const newest = await list(api, "?limit=2");
    assert.deepEqual(newest.events.map(({ seq }) => seq), [start + 3, start + 4]);

    const seen: string[] = [];
    let page: Page = { events: [], cursor: start, more: true };
    while (page.more) {
      page = await list(api, `?after=${page.cursor}&limit=1`);
      seen.push(...page.events.map(({ type }) => type));
    }
    const registered = Array(3).fill("agent.registered");
    assert.deepEqual(seen, [...registered, "agent.revoked"]);
    const typed = await list(api, `?after=${start}&types=agent.revoked,token.*`);
    assert.deepEqual(typed.events.map(({ type }) => type), ["agent.revoked"]);
    const both = await list(api, `?after=${start}&types=agent.*`);
    assert.equal(both.events.length, 4);
    assert.deepEqual((await list(api, `?after=${start + 4}`)).events, []);
  });
});

Deno.test("GET /v1/events refuses a query that it cannot answer", async () => {
  const table = [
    ["after=-1", /after/],
    ["after=x", /after/],
    ["after=999", /newest/],
    ["after=9999999999999999", /after/],
    ["limit=0", /limit/],
    ["limit=1001", /limit/],
    ["types=", /types/],
    ["types=a%20b", /types/],
    ["types=agent*", /types/],
    ["types=agent.*.x", /types/],
    ["type=agent.deleted", /"type\\"/],
    [`types=${Array(51).fill("a").join(",")}`, /types/],
  ] as const;
  await withApi(async (api) => {
    await api.expect(
      table.map(([query, matches]) => (
        { request: `GET /v1/events?${query}`, status: 400, matches }
      )),
    );
    for (const id of ["x", "999"]) {
      const headers = { accept: "text/event-stream", "last-event-id": id };
      const response = await api.send({ request: "GET /v1/events", headers });
      assert.equal(response.status, 400, id);
      await response.body?.cancel();
    }
    await api.expect([{ request: "POST /v1/events", body: {}, status: 405 }]);
  });
});

Deno.test("a stream continues from any event without gap or repeat while events are written", async () => {
  await withApi(async (api) => {
    const { cursor: start } = await list(api);
    const live = await open(api);
    const all = await open(api, `?after=${start}`);
    const nicks = Array.from({ length: 150 }, (_, index) => `agent-${index}`);
    const writing = register(api, ...nicks);
    let reader = await open(api, "", start);
    const seen: (readonly [number, string])[] = [];
    while (seen.length < nicks.length) {
      seen.push(...await reader.take(Math.min(37, nicks.length - seen.length)));
      await reader.cancel();
      reader = await open(api, "?after=0", seen.at(-1)?.[0]);
    }
    await writing;
    const expected = nicks.map((_, index) => [start + index + 1, "agent.registered"] as const);
    assert.deepEqual(seen, expected);
    assert.deepEqual(await all.take(nicks.length), expected);
    assert.deepEqual(await live.take(nicks.length), expected);
    await Promise.all([reader.cancel(), all.cancel(), live.cancel()]);
  });
});

Deno.test("a stream shows whole events of the requested types", async () => {
  await withApi(async (api) => {
    const stream = await open(api, "?types=agent.deleted");
    await register(api, "one");
    await api.send({ request: "DELETE /v1/agents/one" });
    const { events: [logged] } = await list(api, "?limit=1");
    const frame = await stream.next();
    assert.equal(frame?.data["address"], "192.0.2.1");
    assert.deepEqual(frame?.data, logged);
    await stream.cancel();
  });
});

Deno.test("a stream ends with its credential, and with the log", async () => {
  await withApi(async (api) => {
    const stream = await open(api);
    await api.services.operatorToken.rotate(BY_OPERATOR);
    for (let frame = await stream.next(); frame !== null;) frame = await stream.next();
  });
  await withApi(async (api) => {
    const stream = await open(api);
    api.services.eventLog.close();
    assert.equal(await stream.next(), null);
  });
});

Deno.test("HEAD of a stream opens no stream", async () => {
  await withApi(async (api) => {
    const headers = { accept: "text/event-stream" };
    const response = await api.send({ request: "HEAD /v1/events", headers });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(response.body, null);
  });
});
