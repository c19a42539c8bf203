import assert from "node:assert/strict";
import { join } from "node:path";
import { configSchema } from "../../../services/operation/config/schemas.ts";
import { OPERATOR_CALLER, withBridge, type World } from "../../services/chat/bridge/support.ts";
import { type TestApi, withApi } from "../../support/scenarios.ts";
import { anAgent, BY_OPERATOR } from "../../support/services.ts";
import { until } from "../../support/until.ts";

interface Channels extends World {
  readonly api: TestApi;
}

/** Runs a test on the API with a bridge on an IRC server, all in memory. */
async function withChannels(
  run: (channels: Channels) => Promise<void>,
  { enabled = true, maxStreams = 10 }: { enabled?: boolean; maxStreams?: number } = {},
): Promise<void> {
  const config = configSchema.parse({
    bridge: { buffer_size: 50 },
    limits: { streams: maxStreams },
  });
  await withApi((api) =>
    withBridge(async (world) => {
      const { scheduler } = world;
      const bridge = enabled ? world.bridge : null;
      await run({ ...world, api: api.with({ config, scheduler, bridge }) });
    })
  );
}

/** The text of an event stream as it comes. */
class StreamReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  text = "";
  ended = false;

  constructor(response: Response) {
    assert.equal(response.status, 200);
    assert.ok(response.body !== null);
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    this.#read().catch((error: unknown) => this.text += `\nBroken: ${error}`);
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.text += value;
    }
    this.ended = true;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

const since = "since=2026-01-01T00:00:00Z";

Deno.test("Every channel endpoint answers as the contract says", () =>
  withChannels(async ({ api }) => {
    const c = "/v1/channels";
    await api.expect([
      { request: `GET ${c}`, status: 200, matches: /^\["#general"\]$/ },
      { request: `POST ${c}/room/join`, status: 204 },
      { request: `POST ${c}/%23room/join`, status: 204 },
      { request: `GET ${c}`, status: 200, matches: /^\["#general","#room"\]$/ },
      { request: `GET ${c}/room/messages`, status: 200, matches: /^\[\]$/ },
      { request: `POST ${c}/room/messages`, body: { nick: "ann", text: "hi" }, status: 204 },
      {
        request: `GET ${c}/ROOM/messages`,
        status: 200,
        matches:
          /^\[\{"id":"[^"]+","nick":"ann","account":null,"text":"hi","via":"bridge","timestamp":"[^"]+\.\d{6}Z"\}\]$/,
      },
      { request: `POST ${c}/room/presence`, body: { nick: "web" }, status: 204 },
      { request: `GET ${c}/room/users`, status: 200, matches: /^\["ann","bridge","web"\]$/ },
      { request: `DELETE ${c}/room`, status: 204 },
      { request: `GET ${c}`, status: 200, matches: /^\["#general"\]$/ },
      { request: `GET ${c}/room/users`, status: 404 },
      { request: `POST ${c}/room/presence`, body: { nick: "web" }, status: 204 },
      { request: `HEAD ${c}/general/stream`, status: 200, matches: /^$/ },
    ]);
  }));

Deno.test("The channel endpoints refuse malformed requests", () =>
  withChannels(async ({ api }) => {
    const messages = "/v1/channels/general/messages";
    const post = `POST ${messages}`;
    const presence = "POST /v1/channels/general/presence";
    await api.expect([
      { request: "POST /v1/channels/a%20b/join", status: 400, matches: /name/ },
      { request: "POST /v1/channels/a,b/join", status: 400 },
      { request: `POST /v1/channels/${"x".repeat(80)}/join`, status: 400 },
      { request: `GET ${messages}?limit=0`, status: 400, matches: /limit/ },
      { request: `GET ${messages}?limit=51`, status: 400, matches: /limit/ },
      { request: `GET ${messages}?limit=many`, status: 400, matches: /limit/ },
      { request: `GET ${messages}?since=yesterday`, status: 400, matches: /since/ },
      { request: `GET ${messages}?before=yesterday`, status: 400, matches: /before/ },
      { request: `GET ${messages}?before=2026-01-01T00:00:00Z&${since}`, status: 400 },
      { request: `GET ${messages}?before=2026-01-01T00:00:00Z`, status: 200, matches: /^\[\]$/ },
      { request: `GET ${messages}?wait_seconds=61`, status: 400, matches: /wait_seconds/ },
      { request: "GET /v1/channels/general/stream?since=yesterday", status: 400 },
      {
        request: `GET ${messages}?limits=5`,
        status: 400,
        matches: /Unknown query parameter \\"limits\\"/,
      },
      { request: "GET /v1/channels/general/stream?fulll=true", status: 400, matches: /fulll/ },
      { request: post, status: 400 },
      { request: post, body: "text=x", status: 400 },
      { request: post, body: {}, status: 400, matches: /text/ },
      { request: post, body: { text: 1 }, status: 400, matches: /text/ },
      { request: post, body: { text: "" }, status: 400, matches: /text/ },
      { request: post, body: { text: "a\u0007" }, status: 400, matches: /text/ },
      { request: post, body: { text: "x", nick: "9x" }, status: 400, matches: /nick/ },
      { request: post, body: { text: "x\n".repeat(101) }, status: 413 },
      { request: post, body: { text: "x".repeat(65_537) }, status: 413 },
      { request: presence, body: {}, status: 400, matches: /nick.* required/ },
      { request: presence, body: { nick: "a b" }, status: 400, matches: /nick/ },
      { request: `GET ${messages}`, status: 200, matches: /^\[\]$/ },
    ]);
  }));

Deno.test("An agent reads and speaks in channels as itself", () =>
  withChannels(async ({ api, bridge }) => {
    const messages = "/v1/channels/general/messages";
    const presence = "POST /v1/channels/general/presence";
    const post = `POST ${messages}`;
    await api.expect([
      { who: "guest", request: "GET /v1/channels", status: 401 },
      { who: "guest", request: "GET /v1/channels/general/stream?token=x", status: 401 },
      { who: "reader", request: `GET ${messages}`, status: 200 },
      { who: "reader", request: "GET /v1/channels", status: 200 },
      { who: "reader", request: "GET /v1/channels/general/users", status: 200 },
      { who: "reader", request: post, body: { text: "x" }, status: 403 },
      { who: "reader", request: "DELETE /v1/channels/general", status: 403 },
      { who: "writer", request: post, body: { text: "one" }, status: 204 },
      { who: "passphrase", request: post, body: { nick: "Caller", text: "two" }, status: 204 },
      { who: "writer", request: post, body: { nick: "ann", text: "x" }, status: 403 },
      { who: "writer", request: presence, body: { nick: "ann" }, status: 403 },
      { who: "writer", request: presence, body: { nick: "caller" }, status: 204 },
    ]);
    const said = await bridge.messages("general", {});
    assert.deepEqual(said.map(({ nick, text }) => `${nick} ${text}`), ["caller one", "caller two"]);
  }));

Deno.test("An agent that announces its presence is online", () =>
  withChannels(async ({ api }) => {
    await anAgent(api.services, "other");
    assert.equal(api.services.agents.get("other").online, false);
    await api.send({ request: "POST /v1/channels/general/presence", body: { nick: "other" } });
    assert.equal(api.services.agents.get("other").online, true);
  }));

Deno.test("A stream replays messages, continues, and keeps the connection alive", () =>
  withChannels(async ({ api, bridge, scheduler }) => {
    await bridge.post("general", { nick: "ann", text: 'a "quoted" one' }, OPERATOR_CALLER);
    const token = await Deno.readTextFile(join(api.services.folder, "api_token"));
    const response = await api.send({
      who: "guest",
      request: `GET /v1/channels/general/stream?token=${token}&${since}`,
    });
    for (
      const [name, value] of [
        ["content-type", "text/event-stream"],
        ["cache-control", "no-store"],
        ["referrer-policy", "no-referrer"],
        ["x-accel-buffering", "no"],
      ] as const
    ) assert.equal(response.headers.get(name), value);

    const stream = new StreamReader(response);
    const [one] = await bridge.messages("general", {});
    const first = `id: ${one?.id}\n` +
      'data: {"nick":"ann","text":"a \\"quoted\\" one","timestamp":"2026-11-20T12:00:00.000000Z"}\n\n';
    await until(() => stream.text === first);
    await bridge.post("general", { text: "two" }, OPERATOR_CALLER);
    const [two] = await bridge.messages("general", { since: one?.id });
    const second = `id: ${two?.id}\n` +
      'data: {"nick":"bridge","text":"two","timestamp":"2026-11-20T12:00:00.000001Z"}\n\n';
    await until(() => stream.text === first + second);
    scheduler.advance(15_000);
    await until(() => stream.text === `${first}${second}: keep-alive\n\n`);
    await bridge.part("general");
    await until(() => stream.ended);
  }));

Deno.test("An agent is present as long as one of its streams is open", () =>
  withChannels(async ({ api, scheduler }) => {
    const online = () => api.services.agents.get("caller").online;
    const request = "GET /v1/channels/general/stream";
    const stream = new StreamReader(await api.send({ who: "reader", request }));
    api.services.clock.advance(119_000);
    scheduler.advance(15_000);
    api.services.clock.advance(119_000);
    assert.equal(online(), true);
    await stream.cancel();
    api.services.clock.advance(1000);
    scheduler.advance(15_000);
    assert.equal(online(), false);
  }));

Deno.test("A wait is answered when something is said", () =>
  withChannels(async ({ api, bridge }) => {
    await bridge.whenReady();
    const request = `GET /v1/channels/general/messages?wait_seconds=60&${since}`;
    const waiting = api.send({ request });
    await until(() => bridge.stats().waiting === 1);
    await bridge.post("general", { text: "now" }, OPERATOR_CALLER);
    assert.match(await (await waiting).text(), /^\[\{[^{]*"text":"now"[^{]*\}\]$/);

    const later = "GET /v1/channels/general/messages?wait_seconds=60&since=2027-01-01T00:00:00Z";
    const revoked = api.send({ who: "reader", request: later });
    await until(() => bridge.stats().waiting === 1);
    await api.services.agents.revoke("caller", BY_OPERATOR);
    assert.equal(await (await revoked).text(), "[]");
  }));

Deno.test("A stream ends with its credential, and makes room for another", () =>
  withChannels(async ({ api, bridge }) => {
    const request = "GET /v1/channels/general/stream";
    const agent = new StreamReader(await api.send({ who: "reader", request }));
    const operator = new StreamReader(await api.send({ request }));
    assert.equal((await api.send({ request })).status, 429);
    await api.services.agents.revoke("caller", BY_OPERATOR);
    await until(() => agent.ended);
    await bridge.post("general", { text: "still here" }, OPERATOR_CALLER);
    await until(() => operator.text.includes("still here"));
    assert.equal(agent.text, "");
    const other = new StreamReader(await api.send({ request }));
    await operator.cancel();
    await other.cancel();
    const last = new StreamReader(await api.send({ request }));
    await bridge.stop();
    await until(() => last.ended);
  }, { maxStreams: 2 }));

Deno.test("A slow reader is closed and counted, and the others continue", () =>
  withChannels(async ({ api, bridge }) => {
    const request = "GET /v1/channels/general/stream";
    const slow = await api.send({ request });
    const quick = new StreamReader(await api.send({ request }));
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n");
    for (let round = 0; round < 10; round++) {
      await bridge.post("general", { text: lines }, OPERATOR_CALLER);
    }
    assert.equal(bridge.stats().cut, 0);
    await bridge.post("general", { text: "one more" }, OPERATOR_CALLER);
    assert.equal(bridge.stats().cut, 1);
    assert.equal(await slow.text(), "");
    await until(() => quick.text.split("data: ").length === 1002);

    const behind = await api.send({ request });
    for (let round = 0; bridge.stats().cut === 1; round++) {
      assert.ok(round < 20);
      await bridge.post("general", { text: "x".repeat(60_000) }, OPERATOR_CALLER);
    }
    assert.equal(await behind.text(), "");
    await quick.cancel();
  }));

Deno.test("The channel endpoints say when there is no bridge", () =>
  withChannels(async ({ api }) => {
    await api.expect([
      { request: "GET /v1/channels", status: 404, matches: /bridge\.enabled/ },
      { request: "GET /v1/channels/a/messages", status: 404, matches: /bridge\.enabled/ },
      { request: "POST /v1/channels/a/messages", body: { text: "x" }, status: 404 },
      { who: "guest", request: "GET /v1/channels", status: 401 },
    ]);
  }, { enabled: false }));
