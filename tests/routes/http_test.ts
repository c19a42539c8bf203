import assert from "node:assert/strict";
import { ApiRoutes } from "../../routes/api_routes.ts";
import { type Core, prepareRoutes } from "../../routes/core.ts";
import { ServedApi } from "../../routes/serving.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { type Document, endpointsOf } from "../support/api_document.ts";
import { TestMetrics } from "../support/metrics.ts";
import { type TestApi, withApi } from "../support/scenarios.ts";

const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function documentOf(
  api: TestApi,
): Promise<{ paths: Record<string, Record<string, object>> }> {
  return await (await api.send({ who: "guest", request: "GET /openapi.json" })).json();
}

Deno.test("every answer has its own request id, errors included", async () => {
  await withApi(async (api) => {
    const ids = new Set<string>();
    for (const request of ["GET /healthz", "GET /v1/status", "GET /nothing", "PUT /v1/agents"]) {
      const response = await api.send({ request });
      const id = response.headers.get("x-request-id") ?? "";
      assert.match(id, REQUEST_ID, request);
      ids.add(id);
    }
    assert.equal(ids.size, 4);
  });
});

Deno.test("answers to credentials are not cached, and browsers do not guess their type", async () => {
  await withApi(async (api) => {
    for (const request of ["GET /v1/agents", "GET /v1/nothing", "POST /v1/tokens"]) {
      const { headers } = await api.send({ request });
      assert.equal(headers.get("cache-control"), "no-store", request);
      assert.equal(headers.get("x-content-type-options"), "nosniff", request);
    }
  });
});

Deno.test("OPTIONS lists the methods of each path without a credential", async () => {
  await withApi(async (api) => {
    for (const [path, operations] of Object.entries((await documentOf(api)).paths)) {
      const request = `OPTIONS ${path.replaceAll(/[{}]/g, "")}`;
      const response = await api.send({ who: "guest", request });
      assert.equal(response.status, 204, request);
      const allow = response.headers.get("allow")?.split(", ") ?? [];
      for (const method of Object.keys(operations)) {
        assert.ok(allow.includes(method.toUpperCase()), `${request}: ${allow}`);
      }
      if ("get" in operations) assert.ok(allow.includes("HEAD"), request);
    }
    await api.expect([{ who: "guest", request: "OPTIONS /v1/nothing", status: 404 }]);
  });
});

Deno.test("a missing path is 404, and a wrong method 405 with Allow", async () => {
  await withApi(async (api) => {
    await api.expect([
      { request: "GET /v1", status: 404 },
      { request: "GET /v1/agents/a/b/c", status: 404 },
      { request: "PATCH /v1/agents", status: 405 },
      { request: "GET /login", status: 405 },
      { request: "BREW /v1/status", status: 405 },
    ]);
    const allow = {
      "PUT /v1/agents/coder": "GET, HEAD, PATCH, DELETE, OPTIONS",
      "GET /v1/agents/register": "POST, OPTIONS",
      "DELETE /v1/agents/register": "POST, OPTIONS",
    };
    for (const [request, methods] of Object.entries(allow)) {
      const response = await api.send({ request });
      assert.equal(response.status, 405);
      assert.equal(response.headers.get("allow"), methods);
    }
  });
});

Deno.test("a path that was requested before gets its own answer again", async () => {
  await withApi(async (api) => {
    for (const _time of ["first", "second", "third"]) {
      await api.expect([
        { request: "GET /v1/agents/caller", status: 200, matches: /"nick":"caller"/ },
        { request: "GET /v1/agents/nobody%2Felse", status: 404, matches: /nobody\/else/ },
        { request: "GET /v1/agents/register", status: 405 },
        { request: "DELETE /v1/agents/nobody", status: 404, matches: /nobody/ },
        { request: `GET /v1/agents/${"n".repeat(200)}`, status: 404, matches: /n{200}/ },
        { request: `GET /v1/agents/${"n".repeat(300)}`, status: 400, matches: /at most 200/ },
        { request: "GET /v1/nothing", status: 404 },
        { who: "guest", request: "GET /v1/agents/caller", status: 401 },
        { request: "GET /v1/agents/caller/", status: 200, matches: /"nick":"caller"/ },
        { request: "GET /v1/agents?limit=x", status: 400 },
      ]);
    }
  });
});

Deno.test("preparing the routes calls no handler and changes no answer", async () => {
  const app = new ApiRoutes();
  let calls = 0;
  app.get("/healthz", (context) => context.text(String(++calls)));
  prepareRoutes(app);
  assert.equal(calls, 0);
  assert.equal(await (await app.request("/healthz")).text(), "1");
  assert.equal((await app.request("/readyz")).status, 404);
});

Deno.test("routes that are added after a request answer the next one", async () => {
  const app = new ApiRoutes();
  app.get("/early", (context) => context.text("early"));
  assert.equal((await app.request("/late")).status, 404);
  app.route("/", new ApiRoutes().get("/late", (context) => context.text("late")));
  assert.equal(await (await app.request("/late")).text(), "late");
  assert.equal(await (await app.request("/early")).text(), "early");
});

Deno.test("a server loads the routes of projects with the first request that may need them", async () => {
  await withApi(async ({ services }) => {
    const all: Services = { ...services, metrics: new TestMetrics(), ircServer: null };
    const statusOf = async (served: ServedApi, path: string) => {
      const request = new Request(`http://127.0.0.1${path}`);
      return (await served.fetch(request, { remoteAddress: "192.0.2.1" })).status;
    };
    for (
      const [path, status] of [
        ["/projects/none/fossil/api/tickets", 404],
        ["/%70rojects/none/fossil/api/tickets", 404],
        ["/openapi.json", 200],
      ] as const
    ) {
      let core: Core | undefined;
      const served = new ServedApi(all, (loaded) => {
        core = loaded;
        return Promise.resolve();
      });
      const count = () => core?.app.routes.length ?? 0;
      assert.equal(await statusOf(served, "/v1/status"), 401);
      assert.equal(await statusOf(served, "/healthz"), 200);
      assert.equal(count(), 0);
      assert.equal(await statusOf(served, "/v1/agents"), 401);
      const early = count();
      assert.ok(early > 0);
      assert.equal(await statusOf(served, "/v1/status"), 401);
      assert.equal(count(), early);
      assert.equal(await statusOf(served, path), status);
      const whole = count();
      assert.ok(whole > early, path);
      await served.prepare();
      assert.equal(count(), whole);
    }
  });
});

Deno.test("the first probes of a server get the answers of the whole API", async () => {
  await withApi(async ({ services }) => {
    const token = await Deno.readTextFile(`${services.folder}/api_token`);
    const served = new ServedApi(
      { ...services, metrics: new TestMetrics(), ircServer: null },
      () => Promise.resolve(),
    );
    const answers = async () => {
      const found: unknown[] = [];
      for (const path of ["healthz", "readyz", "v1/status"]) {
        for (const headers of [{}, { authorization: `Bearer ${token}` }, { accept: "text/html" }]) {
          const request = new Request(`http://127.0.0.1/${path}`, { headers });
          const response = await served.fetch(request, { remoteAddress: "192.0.2.1" });
          response.headers.delete("x-request-id");
          const body = await response.text();
          found.push([
            response.status,
            [...response.headers],
            body.replaceAll(/\d+(\.\d+)?/g, "N"),
          ]);
        }
      }
      return found;
    };
    const early = await answers();
    await served.prepare();
    assert.deepEqual(await answers(), early);
  });
});

Deno.test("a body that is not UTF-8 is 400 at every endpoint, and changes nothing", async () => {
  const [before = "", after = ""] = ['{"nick":"scout","type":"worker","channels":["#', '"]}'];
  const encode = (text: string) => new TextEncoder().encode(text);
  const latin1 = Uint8Array.of(...encode(before), 0xe9, ...encode(after));
  await withApi(async (api) => {
    const refused = { body: latin1, status: 400, matches: /not valid UTF-8/ } as const;
    const requests = [
      ...["POST /v1/agents/register", "POST /v1/agents/caller/adopt", "POST /v1/tokens"],
      ...["PATCH /v1/agents/caller", "PUT /v1/policies/bot", "POST /v1/llm/complete"],
    ];
    await api.expect([
      ...requests.map((request) => ({ ...refused, request })),
      { ...refused, who: "guest", request: "POST /login" },
      { request: "GET /v1/agents/scout", status: 404 },
      { request: "POST /v1/agents/caller/pause", body: "", status: 204 },
      { request: "POST /v1/agents/caller/resume", status: 204 },
      {
        request: "POST /v1/agents/register",
        body: encode("\ufeff" + before + "é" + after),
        status: 200,
      },
    ]);
  });
});

Deno.test("HEAD answers as GET does, without the body", async () => {
  await withApi(async (api) => {
    for (const path of ["/healthz", "/v1/status", "/v1/agents", "/v1/agents/nobody", "/docs"]) {
      const get = await api.send({ request: `GET ${path}` });
      const head = await api.send({ request: `HEAD ${path}` });
      assert.equal(head.status, get.status, path);
      assert.equal(head.headers.get("content-type"), get.headers.get("content-type"), path);
      assert.equal(await head.text(), "", path);
      await get.body?.cancel();
    }
  });
});

Deno.test("a request is logged as one line without path, query or credential", async () => {
  await withApi(async (api) => {
    await api.send({ who: "writer", request: "GET /v1/agents/hidden-name?token=hidden-token" });
    const lines = api.services.log.lines.filter((line) => line.includes("Request"));
    assert.equal(lines.length, 1);
    const [line = ""] = lines;
    assert.match(line, /^info Request/);
    assert.match(line, /method: "GET"/);
    assert.match(line, /route: "\/v1\/agents\/\{nick\}"/);
    assert.match(line, /status: 404/);
    assert.match(line, /ms: [\d.]+/);
    assert.match(line, /requestId: "[0-9a-f-]{36}"/);
    assert.match(line, /principal: "agent caller"/);
    assert.match(line, /address: "192\.0\.2\.1"/);
    assert.doesNotMatch(line, /hidden/);
  });
});

Deno.test("routine requests of machines are logged at debug, unless they fail", async () => {
  await withApi(async (api) => {
    await api.send({ request: "GET /healthz" });
    await api.send({ request: "GET /v1/metrics" });
    await api.send({ who: "guest", request: "GET /v1/metrics" });
    const levels = api.services.log.lines.filter((line) => line.includes("Request"))
      .map((line) => line.split(" ")[0]);
    assert.deepEqual(levels, ["debug", "debug", "info"]);
  });
});

Deno.test("a request without a credential is answered with both ways to send one", async () => {
  await withApi(async (api) => {
    await api.expect([
      { who: "guest", request: "GET /v1/agents", status: 401, matches: /Bearer token.* as Basic/ },
    ]);
  });
});

Deno.test("requests are counted by the pattern of their path, and unknown paths together", async () => {
  await withApi(async (api) => {
    for (
      const request of [
        "GET /v1/agents/coder",
        "HEAD /v1/agents",
        "POST /v1/agents/x/revoke",
        "GET /secret/place",
        "BREW /v1/status",
      ]
    ) {
      await api.send({ request });
    }
    await api.send({ who: "guest", request: "GET /v1/agents/coder" });
    assert.deepEqual(api.metrics.requests, [
      "GET /v1/agents/{nick} 404",
      "HEAD /v1/agents 200",
      "POST /v1/agents/{nick}/revoke 404",
      "GET none 404",
      "other none 405",
      "GET /v1/agents/{nick} 401",
    ]);
  });
});

Deno.test("web pages of named origins send and read each documented header", async () => {
  const origin = "https://ui.example";
  await withApi(async (before) => {
    const api = before.with({ config: configSchema.parse({ cors: { origins: [origin] } }) });
    const document = await api.answer("GET /openapi.json") as Document;
    const endpoints = endpointsOf(document);
    assert.ok(endpoints.length > 100);
    const headersOf = async (name: string) => {
      const preflight = { origin, "access-control-request-method": "POST" };
      const request = "OPTIONS /v1/llm/openai/chat/completions";
      const response = await api.send({ who: "guest", request, headers: preflight });
      return new Set((response.headers.get(name) ?? "").toLowerCase().split(", "));
    };
    const allowed = await headersOf("access-control-allow-headers");
    const exposed = await headersOf("access-control-expose-headers");
    for (const { method, path, parameters = [], responses } of endpoints) {
      for (const { in: place, name } of parameters) {
        if (place === "header") {
          assert.ok(allowed.has(name.toLowerCase()), `${method} ${path} ${name}`);
        }
      }
      for (const { headers = {} } of Object.values(responses)) {
        for (const name of Object.keys(headers)) {
          assert.ok(exposed.has(name.toLowerCase()), `${method} ${path} ${name}`);
        }
      }
    }
    assert.ok(allowed.has("x-muster-ticket"));
  });
});

Deno.test("web pages of other origins get nothing unless the configuration names them", async () => {
  const origin = "https://ui.example";
  await withApi(async (api) => {
    const response = await api.send({ request: "GET /v1/agents", headers: { origin } });
    assert.equal(response.headers.get("access-control-allow-origin"), null);
  });

  await withApi(async (before) => {
    const config = configSchema.parse({ cors: { origins: [origin] } });
    const api = before.with({ config });
    const send = (method: string, from: string) =>
      api.send({
        who: method === "OPTIONS" ? "guest" : "operator",
        request: `${method} /v1/agents`,
        headers: { origin: from, "access-control-request-method": "GET" },
      });
    const preflight = await send("OPTIONS", origin);
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-origin"), origin);
    assert.equal(preflight.headers.get("access-control-allow-methods"), "GET, HEAD, OPTIONS");
    assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /Authorization/);
    assert.equal(preflight.headers.get("access-control-allow-credentials"), null);
    const answer = await send("GET", origin);
    assert.equal(answer.headers.get("access-control-allow-origin"), origin);
    assert.equal(answer.headers.get("vary"), "Origin");
    const foreign = await send("GET", "https://evil.example");
    assert.equal(foreign.headers.get("access-control-allow-origin"), null);
  });
});

Deno.test("/docs shows every endpoint, and loads nothing", async () => {
  await withApi(async (api) => {
    const response = await api.send({ who: "guest", request: "GET /docs" });
    assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
    const page = await response.text();
    const policy = response.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; style-src 'sha256-/);
    assert.doesNotMatch(page, /<script|<link|<img|@import|url\(/);
    const [, style = ""] = /<style>([^]*?)<\/style>/.exec(page) ?? [];
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    assert.ok(policy.includes(btoa(String.fromCharCode(...new Uint8Array(digest)))));
    const { paths } = await documentOf(api);
    for (const path of Object.keys(paths)) assert.ok(page.includes(`<code>${path}</code>`), path);
  });
});

Deno.test("the OpenAPI document has every operation once, with the credentials that open it", async () => {
  await withApi(async (api) => {
    const document = await (await api.send({ who: "guest", request: "GET /openapi.json" })).json();
    assert.equal(document.openapi, "3.1.0");
    const operations = Object.values<Record<string, { operationId: string }>>(document.paths)
      .flatMap((path) => Object.values(path));
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
    assert.deepEqual(document.paths["/v1/tokens"].get.security, [
      { apiToken: [] },
      { adminToken: [] },
    ]);
    assert.deepEqual(document.paths["/v1/agents"].get.security, [
      { apiToken: [] },
      { adminToken: [] },
      { agentToken: [] },
      { passphrase: [] },
    ]);
    assert.deepEqual(document.paths["/healthz"].get.security, []);
  });
});
