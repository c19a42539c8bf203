/** Usual requests are answered without the app: nobody can tell from outside. */
import assert from "node:assert/strict";
import type { AppEnv } from "../../routes/environment.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import { Unavailable } from "../../services/kernel/errors.ts";
import { withBridge } from "../services/chat/bridge/support.ts";
import { EVERYBODY, type TestApi, type Who, withApi } from "../support/scenarios.ts";
import { eventTypes } from "../support/services.ts";
import { THOROUGH } from "../support/level.ts";

/** A request, of which each way gets one of its own. */
interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Whether its length is declared; by default, it is. */
  readonly declared?: boolean;
  readonly bindings?: AppEnv["Bindings"];
}

/** What can be told from outside, and from the log and the metrics. */
interface Seen {
  readonly status: number;
  readonly headers: [string, string][];
  readonly text: string;
  readonly log: string[];
  readonly metrics: string[];
  readonly events: number;
  readonly said: number;
  readonly trusted: string[];
}

const MESSAGES = "/v1/channels/general/messages";
const HI = JSON.stringify({ text: "hi" });

/** Runs a test on the API with a bridge, whose answers have headers for other origins. */
async function withChannels(
  run: (ways: Ways) => Promise<void>,
  limits: { body_bytes?: number } = {},
): Promise<void> {
  const config = configSchema.parse({
    bridge: { buffer_size: 50 },
    cors: { origins: ["https://ui.example"] },
    trusted_proxies: ["127.0.0.1"],
    limits,
  });
  await withApi((api) =>
    withBridge(async ({ bridge, scheduler }) => {
      const ways = new Ways(api.with({ config, scheduler, bridge }));
      await ways.load();
      await run(ways);
    })
  );
}

/** Sends requests both ways. */
class Ways {
  readonly api: TestApi;
  /** The requests that were answered without the app. */
  direct = 0;

  constructor(api: TestApi) {
    this.api = api;
  }

  /** Loads the routes, as the first request for each does. */
  async load(): Promise<void> {
    await this.api.expect([
      { request: `POST ${MESSAGES}`, body: { text: "first" }, status: 204 },
      { request: `GET ${MESSAGES}`, status: 200 },
      { request: "GET /v1/agents", status: 200 },
      { request: "GET /v1/status", status: 200 },
    ]);
  }

  /** Sends a request both ways, and compares everything. */
  async compare(asked: Asked): Promise<void> {
    const byApp = await this.#send(asked, (...sent) => this.api.handle(...sent));
    const answered = await this.#send(asked, async (...sent) => {
      const direct = this.api.direct(...sent);
      if (direct === null) return await this.api.handle(...sent);
      this.direct++;
      return await direct;
    });
    assert.deepEqual(answered, byApp, label(asked));
  }

  /** Sends a request that must be answered one way, or the other; and compares. */
  async expect(isDirect: boolean, asked: Asked): Promise<void> {
    const before = this.direct;
    await this.compare(asked);
    assert.equal(this.direct > before, isDirect, label(asked));
  }

  async #send(
    asked: Asked,
    answer: (request: Request, bindings: AppEnv["Bindings"]) => Promise<Response>,
  ): Promise<Seen> {
    const { services: { log }, metrics } = this.api;
    const trusted: string[] = [];
    const trust = ({ kind, name }: { kind: string; name: string }) => {
      trusted.push(`${kind} ${name}`);
    };
    const bindings = { ...asked.bindings ?? { remoteAddress: "127.0.0.1" }, trust };
    const [lines, requests] = [log.lines.length, metrics.requests.length];
    const [events, said] = await this.#counts();
    const response = await answer(requestOf(asked), bindings);
    const [eventsAfter, saidAfter] = await this.#counts();
    const known = response.headers.get("x-request-id") ?? "none";
    const seen = (text: string) => text.replaceAll(known, "ID").replace(/ms: [\d.]+/, "ms: N");
    return {
      status: response.status,
      headers: [...response.headers].filter(([name]) => name !== "x-request-id"),
      text: seen(await response.text()),
      log: log.lines.slice(lines).map(seen),
      metrics: metrics.requests.slice(requests),
      events: eventsAfter - events,
      said: saidAfter - said,
      trusted,
    };
  }

  async #counts(): Promise<readonly [events: number, said: number]> {
    const events = await eventTypes(this.api.services);
    const said = await this.api.services.bridge?.messages("general", { waitSeconds: 0 }) ?? [];
    return [events.length, said.length];
  }
}

function requestOf({ method = "GET", path, headers = {}, body, declared = true }: Asked): Request {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) given.set(name, value);
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  if (bytes !== undefined && declared) given.set("content-length", String(bytes.length));
  const request = new Request("http://muster.example/", {
    method,
    headers: given,
    body: bytes ?? null,
  });
  // As the runtime passes it on, without what the constructor makes of it.
  Object.defineProperty(request, "url", { value: `http://muster.example${path}` });
  return request;
}

function label({ method = "GET", path, headers, body }: Asked): string {
  return `${method} ${path} ${JSON.stringify(headers)} ${String(body).slice(0, 200)}`;
}

const METHODS = ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PATHS = [
  "/v1/status",
  "/v1/status/",
  "/v1//status",
  "/v1/status?",
  "/v1/status?token=x",
  "/v1/agents",
  "/v1/agents?limit=1",
  "/v1/agents?limit=x",
  "/v1/agents/nobody",
  "/v1/agents/register",
  MESSAGES,
  `${MESSAGES}/`,
  `${MESSAGES}?limit=2`,
  `${MESSAGES}?limit=0`,
  `${MESSAGES}?wait_seconds=0`,
  `${MESSAGES}?other=1`,
  `${MESSAGES}#end`,
  "/v1/channels/%67eneral/messages",
  "/v1/channels/%23general/messages",
  "/v1/channels/%/messages",
  "/v1/channels/a,b/messages",
  "/v1/channels/caller/messages",
  `/v1/channels/${"x".repeat(300)}/messages`,
  "/v1/channels//messages",
  "/v1/channels/../messages",
  "/v1/channels/general/stream/x",
  "/v1/nothing",
  "/healthz",
  "/openapi",
];

Deno.test(
  "every method, path and caller gets the same answer both ways",
  THOROUGH,
  () =>
    withChannels(async (ways) => {
      for (const who of EVERYBODY) {
        const authorization = ways.api.authorizationOf(who);
        for (const method of METHODS) {
          for (const path of PATHS) {
            const takesBody = method !== "GET" && method !== "HEAD";
            await ways.compare({
              method,
              path,
              headers: { authorization },
              ...takesBody ? { body: HI } : {},
            });
          }
        }
      }
      assert.ok(ways.direct > 20, `${ways.direct} answered directly`);
    }),
);

const BODIES: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  HI,
  " \n" + HI,
  "\ufeff" + HI,
  JSON.stringify({ text: "grüße 🎺" }),
  JSON.stringify({ text: "two\nlines" }),
  JSON.stringify({ text: "hi", nick: "ann" }),
  JSON.stringify({ text: "hi", nick: "caller" }),
  JSON.stringify({ text: "hi", nick: "a b" }),
  JSON.stringify({ text: "hi", nick: 1 }),
  JSON.stringify({ text: "hi", nick: null }),
  JSON.stringify({ text: "hi", other: [] }),
  JSON.stringify({ text: "hi", reply: "x" }),
  JSON.stringify({ text: "hi", reply: "" }),
  JSON.stringify({ text: "" }),
  JSON.stringify({ text: 1 }),
  JSON.stringify({ text: "bell \u0007" }),
  JSON.stringify({ text: "x".repeat(5000) }),
  JSON.stringify({ text: "x".repeat(65_000) }),
  JSON.stringify({ text: "x".repeat(70_000) }),
  JSON.stringify({ text: "line\n".repeat(101) }),
  JSON.stringify({ text: JSON.stringify({ v: 1, from: "ann", type: "x" }) }),
  JSON.stringify({ text: "hi", nick: "ann", reply: "x" }),
  JSON.stringify({ text: "hi", nick: "" }),
  JSON.stringify({ text: ["hi"] }),
  JSON.stringify({ nick: "ann" }),
  '["hi"]',
  '{"text": "hi"}',
  '{"nick": "ann", "text": "hi"}',
  '{"text":"hi","nick":"ann"}',
  '{"text":"hi","nick":"a b"}',
  '{"nick":"ann","nick":"bob"}',
  '{"nick":"ann","text":""}',
  '{"other":"hi"}',
  '{"other":"x","text":"hi"}',
  '{"text":"hi","other":"x"}',
  '{"text":"hi","nick":"ann","other":"x"}',
  '{"text":"tab\there"}',
  '{"text":"hi"}x',
  '{"text": "a", "text": "b"}',
  '{"__proto__": {"text": "hi"}}',
  '{"text": "hi", "__proto__": null}',
  "{}",
  "[]",
  "null",
  '"hi"',
  "{",
  "",
  " ",
  "[".repeat(150) + "]".repeat(150),
  new Uint8Array([0x7b, 0xff, 0x7d]),
];

Deno.test(
  "every body gets the same answer both ways, and is said as often",
  THOROUGH,
  () =>
    withChannels(async (ways) => {
      const path = MESSAGES;
      for (const who of ["writer", "reader", "operator", "passphrase", "guest"] as const) {
        const authorization = ways.api.authorizationOf(who);
        for (const body of BODIES) {
          for (const declared of [true, false]) {
            for (const type of [undefined, "application/json", "text/plain"]) {
              const headers = { authorization, "content-type": type };
              await ways.compare({ method: "POST", path, headers, body, declared });
            }
          }
        }
      }
    }),
);

Deno.test("every header gets the same answer both ways", () =>
  withChannels(async (ways) => {
    const token = ways.api.authorizationOf("writer") ?? "";
    const others: Readonly<Record<string, readonly string[]>> = {
      authorization: [token.replace("Bearer", "bearer"), token + "  ", `${token} x`, "Digest x"],
      origin: ["https://ui.example", "https://other.example", "null"],
      accept: ["text/html", "text/event-stream", "application/x-ndjson"],
      "x-forwarded-for": ["192.0.2.9", "192.0.2.9, 127.0.0.1", "what"],
      "x-forwarded-proto": ["https"],
      "content-length": ["0", "4", "1e3", "-1", "99999999999", "x"],
      cookie: ["muster_session=0123"],
      "last-event-id": ["x"],
      "x-request-id": ["mine"],
      expect: ["100-continue"],
    };
    for (const [name, values] of Object.entries(others)) {
      for (const value of values) {
        const headers = { authorization: token, [name]: value };
        await ways.compare({ path: MESSAGES, headers });
        await ways.compare({ path: "/v1/status", headers });
        const declared = name !== "content-length";
        await ways.compare({ method: "POST", path: MESSAGES, headers, body: HI, declared });
      }
    }
  }));

Deno.test("usual requests are answered directly, and no others", () =>
  withChannels(async (ways) => {
    const authorization = ways.api.authorizationOf("writer");
    const headers = { authorization };
    for (const path of ["/v1/status", "/v1/agents", MESSAGES, "/v1/channels/caller/messages"]) {
      await ways.expect(true, { path, headers });
      await ways.expect(false, { path: `${path}?limit=1`, headers });
      await ways.expect(false, { path, headers: {} });
      await ways.expect(false, { method: "HEAD", path, headers });
    }
    const post = { method: "POST", path: MESSAGES, headers, body: HI };
    await ways.expect(true, post);
    await ways.expect(false, { ...post, declared: false });
    const remoteAddress = "192.0.2.4";
    await ways.expect(true, { ...post, bindings: { remoteAddress } });
    const refusal = new Unavailable("Not now");
    await ways.expect(false, { ...post, bindings: { remoteAddress, refusal } });
  }, { body_bytes: 2000 }));

Deno.test("a halted agent, a paused one and an ended token are refused both ways", () =>
  withChannels(async (ways) => {
    const { api } = ways;
    const refused = async (who: Who) => {
      const headers = { authorization: api.authorizationOf(who) };
      await ways.compare({ method: "POST", path: MESSAGES, headers, body: HI });
      await ways.compare({ path: MESSAGES, headers });
      await ways.compare({ path: "/v1/status", headers });
    };
    await api.answer("POST /v1/halt", { reason: "wrong branch" });
    await refused("writer");
    await refused("operator");
    await api.answer("DELETE /v1/halt");
    await api.expect([{ request: "POST /v1/agents/caller/pause", body: {}, status: 204 }]);
    await refused("writer");
    await api.expect([{ request: "POST /v1/agents/caller/revoke", status: 204 }]);
    await refused("writer");
  }));

Deno.test("a token that ends before the body has come opens nothing", () =>
  withChannels(async ({ api }) => {
    const gate = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await gate.promise;
        controller.enqueue(new TextEncoder().encode(HI));
        controller.close();
      },
    });
    const request = new Request(`http://muster.example${MESSAGES}`, {
      method: "POST",
      headers: {
        authorization: api.authorizationOf("writer") ?? "",
        "content-length": String(HI.length),
      },
      body,
    });
    const direct = api.direct(request);
    assert.ok(direct !== null);
    await api.expect([{ request: "POST /v1/agents/caller/revoke", status: 204 }]);
    gate.resolve();
    assert.equal((await direct).status, 401);
  }));
