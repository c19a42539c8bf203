/** Requests for operations on the server, in every form that HTTP allows. */
import assert from "node:assert/strict";
import { OPERATION_ROUTES } from "../../routes/operation_table.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import { Unavailable } from "../../services/kernel/errors.ts";
import { withBridge } from "../services/chat/bridge/support.ts";
import { heldBack, type TestApi, withApi } from "../support/scenarios.ts";

const MESSAGES = "/v1/channels/general/messages";
const HI = JSON.stringify({ text: "hi" });

/** Runs a test on the API with a bridge, whose answers have headers for other origins. */
async function withChannels(run: (api: TestApi) => Promise<void>): Promise<void> {
  const config = configSchema.parse({
    bridge: { buffer_size: 50 },
    cors: { origins: ["https://ui.example"] },
    trusted_proxies: ["127.0.0.1"],
    limits: { body_bytes: 70_000 },
  });
  await withApi((api) =>
    withBridge(({ bridge, scheduler }) => run(api.with({ config, scheduler, bridge })))
  );
}

/** A request of the writer, as the runtime passes it on. */
function asked(
  api: TestApi,
  name: string,
  init: RequestInit & { readonly headers?: Readonly<Record<string, string>> } = {},
): Request {
  const [method = "GET", path = "/"] = name.split(" ");
  const authorization = api.authorizationOf("writer") ?? "";
  const headers = { authorization, ...init.headers };
  const request = new Request("http://muster.example/", { ...init, method, headers });
  // The constructor would resolve `..`, for one.
  Object.defineProperty(request, "url", { value: `http://muster.example${path}` });
  return request;
}

/** The number of messages that were said in the channel. */
async function said(api: TestApi): Promise<number> {
  const request = asked(api, `GET ${MESSAGES}`);
  return (await (await api.handle(request)).json()).length;
}

Deno.test("a path is read as every other route's", () =>
  withChannels(async (api) => {
    const statuses = {
      "GET /v1/status": 200,
      "GET /v1/status/": 200,
      "GET /v1/status?": 200,
      "GET /v1/status#end": 200,
      "GET /v1/%73tatus": 200,
      "GET /v1//status": 404,
      "GET //v1/status": 404,
      "GET /V1/status": 404,
      "GET /v1/status/x": 404,
      "GET /v1/status?token=x": 200,
      "BREW /v1/status": 405,
      "POST /v1/status": 405,
      "GET /v1/agents?limit=1": 200,
      "GET /v1/agents?limit=x": 400,
      "GET /v1/agents?limit=1&limit=2": 400,
      "GET /v1/agents/register": 405,
      "GET /v1/agents/caller": 200,
      "GET /v1/agents/%63aller": 200,
      "GET /v1/agents/c%2Fd": 404,
      "GET /v1/agents/%": 404,
      "GET /v1/agents/%ff": 404,
      "GET /v1/agents//": 404,
      [`GET ${MESSAGES}`]: 200,
      [`GET ${MESSAGES}?limit=0`]: 400,
      [`GET ${MESSAGES}?other=1`]: 400,
      "GET /v1/channels/%23general/messages": 200,
      "GET /v1/channels/../status": 404,
    };
    for (const _time of ["at first", "once it is known"]) {
      const seen: Record<string, number> = {};
      for (const name of Object.keys(statuses)) {
        const response = await api.handle(asked(api, name));
        seen[name] = response.status;
        await response.body?.cancel();
      }
      assert.deepEqual(seen, statuses);
    }
  }));

Deno.test("HEAD has the status and the headers of GET, and nothing else", () =>
  withChannels(async (api) => {
    for (const path of ["/v1/status", MESSAGES, `${MESSAGES}?limit=2`, "/v1/agents/nobody"]) {
      const [get, head] = await Promise.all(
        ["GET", "HEAD"].map((method) => api.handle(asked(api, `${method} ${path}`))),
      );
      const headersOf = (response: Response | undefined) =>
        [...response?.headers ?? []].filter(([name]) => name !== "x-request-id");
      assert.equal(head?.status, get?.status, path);
      assert.deepEqual(headersOf(head), headersOf(get), path);
      assert.equal(await head?.text(), "");
      await get?.body?.cancel();
    }
  }));

Deno.test("an operation reads JSON of any declared type, in any encoding of its length", () =>
  withChannels(async (api) => {
    const stream = () => new Blob([HI]).stream();
    const length = { "content-length": `${HI.length}` };
    let count = await said(api);
    for (const type of ["application/json", "text/plain", "application/x-fossil", ""]) {
      const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
      for (
        const init of [
          { body: HI, headers },
          { body: HI, headers: { ...headers, ...length } },
          { body: stream(), headers },
          { body: stream(), headers: { ...headers, ...length } },
          { body: HI, headers: { ...headers, expect: "100-continue" } },
        ]
      ) {
        const response = await api.handle(asked(api, `POST ${MESSAGES}`, init));
        assert.equal(response.status, 204, type);
        count++;
      }
    }
    assert.equal(await said(api), count);
  }));

Deno.test("a body that is none, or wrong, is refused by what is wrong", () =>
  withChannels(async (api) => {
    const bodies: readonly (readonly [RequestInit, number, RegExp])[] = [
      [{}, 400, /"text"/],
      [{ headers: { "content-length": "0" } }, 400, /not valid JSON/],
      [{ headers: { "content-type": "text/plain" } }, 415, /Unsupported/],
      [{ headers: { "content-type": "application/json" } }, 400, /not valid JSON/],
      [{ body: " " }, 400, /not valid JSON/],
      [{ body: "{" }, 400, /not valid JSON/],
      [{ body: "[]" }, 400, /object/],
      [{ body: "null" }, 400, /object/],
      [{ body: '{"text":1}' }, 400, /"text"/],
      [{ body: new Uint8Array([0x7b, 0xff, 0x7d]) }, 400, /UTF-8/],
      [{ body: "[".repeat(150) + "]".repeat(150) }, 400, /nested/],
      [{ body: `{"text":"${"x".repeat(70_000)}"}` }, 413, /larger than 70000 bytes/],
      [{ headers: { "content-length": "99999999999" } }, 413, /larger than 70000 bytes/],
    ];
    for (const [init, status, message] of bodies) {
      const given = init as RequestInit & { headers?: Record<string, string> };
      const response = await api.handle(asked(api, `POST ${MESSAGES}`, given));
      assert.deepEqual([response.status, given], [status, given]);
      assert.match((await response.json()).error, message);
    }
  }));

Deno.test("a body that may be missing is an empty object", () =>
  withApi(async (api) => {
    for (const body of [undefined, "", "  ", "{}"]) {
      const init: RequestInit = { method: "POST" };
      if (body !== undefined) init.body = body;
      const request = new Request("http://localhost/v1/agents/caller/pause", init);
      request.headers.set("authorization", api.authorizationOf("operator") ?? "");
      assert.equal((await api.handle(request)).status, 204, body);
    }
    await api.expect([{ request: "POST /v1/agents/caller/pause", body: "[]", status: 400 }]);
  }));

Deno.test("an answer has the headers of every answer", () =>
  withChannels(async (api) => {
    const origin = "https://ui.example";
    for (
      const [name, init, status] of [
        ["GET /v1/status", {}, 200],
        [`POST ${MESSAGES}`, { body: HI }, 204],
        [`POST ${MESSAGES}`, { body: "{" }, 400],
        ["GET /v1/status", { headers: { authorization: "Bearer x" } }, 401],
      ] as const
    ) {
      const headers = { origin, ...("headers" in init ? init.headers : {}) };
      const response = await api.handle(asked(api, name, { ...init, headers }));
      assert.equal(response.status, status, name);
      assert.equal(response.headers.get("access-control-allow-origin"), origin);
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      assert.match(response.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
      assert.equal(response.headers.has("www-authenticate"), status === 401);
      await response.body?.cancel();
    }
  }));

Deno.test("a request that cannot be answered is refused before its credential", () =>
  withChannels(async (api) => {
    const bindings = { remoteAddress: "192.0.2.4", refusal: new Unavailable("Not now") };
    for (const name of ["GET /v1/status", `POST ${MESSAGES}`, "GET /v1/agents?limit=x"]) {
      const response = await api.handle(asked(api, name), bindings);
      assert.deepEqual([response.status, await response.json()], [503, { error: "Not now" }]);
    }
  }));

Deno.test("a valid credential is shown to the connection, and named in the access log", () =>
  withChannels(async (api) => {
    const shown: string[] = [];
    const trust = ({ name }: { readonly name: string }) => void shown.push(name);
    const bindings = { remoteAddress: "192.0.2.4", trust };
    const { log } = api.services;
    const before = log.lines.length;
    await (await api.handle(asked(api, "GET /v1/agents/nobody"), bindings)).body?.cancel();
    const headers = { authorization: "Bearer x" };
    await (await api.handle(asked(api, "GET /v1/status", { headers }), bindings)).body?.cancel();
    assert.deepEqual(shown, ["caller"]);
    const [known = "", unknown = ""] = log.lines.slice(before);
    assert.match(known, /\/v1\/agents\/\{nick\}/);
    assert.match(known, /caller/);
    assert.match(unknown, /\/v1\/status/);
    assert.match(unknown, /192\.0\.2\.4/);
  }));

Deno.test("a right that ends before the body has come opens nothing", () =>
  withChannels(async (api) => {
    const count = await said(api);
    const acts = {
      401: { request: "POST /v1/agents/caller/revoke", status: 204 },
      423: { request: "POST /v1/halt", body: { reason: "wrong branch" }, status: 200 },
    };
    for (const [status, act] of Object.entries(acts).reverse()) {
      const body = heldBack(HI, () => api.expect([act]));
      const length = { "content-length": `${HI.length}` };
      const headers = { authorization: api.authorizationOf("writer") ?? "", ...length };
      const request = new Request(`http://localhost${MESSAGES}`, { method: "POST", headers, body });
      const response = await api.handle(request);
      assert.equal(response.status, Number(status));
      await response.body?.cancel();
    }
    await api.answer("DELETE /v1/halt");
    const left = await api.send({ request: `GET ${MESSAGES}` });
    assert.equal((await left.json()).length, count);
  }));

Deno.test("every operation refuses a stranger, and is known to OPTIONS", () =>
  withApi(async (api) => {
    for (const name of Object.keys(OPERATION_ROUTES)) {
      const request = name.replaceAll(/\{\w+\}/g, "x");
      const [method = "", path = ""] = request.split(" ");
      const response = await api.send({ who: "guest", request: `OPTIONS ${path}` });
      const allowed = response.headers.get("allow")?.split(", ") ?? [];
      // Without the bridge, there are no channels.
      if (response.status !== 404) assert.ok(allowed.includes(method), name);
      await api.expect([{ who: "guest", request, status: 401 }]);
    }
  }));
