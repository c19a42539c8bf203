import assert from "node:assert/strict";
import { type Scenario, type TestApi, withApi } from "../support/scenarios.ts";

const HOUR = 60 * 60_000;
const CREDENTIALS = { username: "admin", password: "correct horse" };

/** Runs a test on an API whose admin has a known password. */
async function withAdmin(run: (api: TestApi) => Promise<void>): Promise<void> {
  await withApi(async (api) => {
    await api.expect([{
      request: "PUT /v1/admins/admin/password",
      body: { password: CREDENTIALS.password },
      status: 204,
    }]);
    await run(api);
  });
}

/** What a browser keeps: the value and the attributes of each cookie that an answer sets. */
function cookiesOf(
  response: Response,
): ReadonlyMap<string, { value: string; attributes: string[] }> {
  return new Map(
    response.headers.getSetCookie().map((line) => {
      const [pair = "", ...attributes] = line.split("; ");
      const [name = "", value = ""] = pair.split("=");
      return [name, { value, attributes: attributes.toSorted() }];
    }),
  );
}

/** Logs in and gives the headers of a browser that is logged in. */
async function logIn(api: TestApi): Promise<{ cookie: string; "x-csrf-token": string }> {
  const response = await api.send({ who: "guest", request: "POST /login", body: CREDENTIALS });
  assert.deepEqual([response.status, await response.json()], [200, { username: "admin" }]);
  const cookies = cookiesOf(response);
  const csrf = cookies.get("muster_csrf")?.value ?? "";
  const session = cookies.get("muster_session")?.value;
  return { cookie: `muster_session=${session}; muster_csrf=${csrf}`, "x-csrf-token": csrf };
}

Deno.test("POST /login sets the cookies of a session", async () => {
  await withAdmin(async (api) => {
    const body = { ...CREDENTIALS, username: "ADMIN" };
    const response = await api.send({ who: "guest", request: "POST /login", body });
    assert.deepEqual(await response.json(), { username: "admin" });
    assert.equal(response.headers.get("cache-control"), "no-store");
    const cookies = cookiesOf(response);
    const shared = ["Max-Age=43200", "Path=/", "SameSite=Lax"];
    assert.match(cookies.get("muster_session")?.value ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual(cookies.get("muster_session")?.attributes, ["HttpOnly", ...shared]);
    assert.match(cookies.get("muster_csrf")?.value ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual(cookies.get("muster_csrf")?.attributes, shared);
  });
});

Deno.test("POST /login refuses wrong passwords, agents, and malformed bodies", async () => {
  const table: readonly (readonly [unknown, number, RegExp])[] = [
    [{ ...CREDENTIALS, password: "wrong horse" }, 401, /wrong/],
    [{ ...CREDENTIALS, username: "nobody" }, 401, /wrong/],
    [{ ...CREDENTIALS, username: "caller" }, 401, /wrong/],
    [{ ...CREDENTIALS, password: "" }, 401, /wrong/],
    [{ username: "admin" }, 400, /password/],
    [{ ...CREDENTIALS, username: null }, 400, /username/],
    ["username: admin", 400, /JSON/],
    [undefined, 400, /username|JSON/],
  ];
  await withAdmin(async (api) => {
    for (const [body, status, matches] of table) {
      const request = { who: "guest", request: "POST /login", body } as const;
      await api.expect([{ ...request, status, matches }]);
      assert.deepEqual((await api.send(request)).headers.getSetCookie(), []);
      api.services.clock.advance(HOUR);
    }
    await api.expect([{ who: "guest", request: "GET /login", status: 405 }]);
  });
});

Deno.test("the eleventh login within 15 minutes from one place is refused, even after successes", async () => {
  await withAdmin(async (api) => {
    const attempt = (body: unknown, status: number, from = "192.0.2.1"): Scenario => ({
      who: "guest",
      request: "POST /login",
      body,
      status,
      from,
    });
    await api.expect([
      ...new Array(4).fill(attempt(CREDENTIALS, 200)),
      ...new Array(3).fill(attempt("nonsense", 400)),
    ]);
    api.services.clock.advance(10 * 60_000);
    await api.expect([
      ...new Array(3).fill(attempt({ ...CREDENTIALS, password: "wrong horse" }, 401)),
      attempt(CREDENTIALS, 429),
      attempt(CREDENTIALS, 200, "198.51.100.7"),
    ]);
    const refused = await api.send(attempt(CREDENTIALS, 429));
    assert.equal(refused.headers.get("retry-after"), "300");
    api.services.clock.advance(5 * 60_000);
    await api.expect([attempt(CREDENTIALS, 200)]);
  });
});

Deno.test("a flood of logins from one place is refused at once and takes nobody else's turn", async () => {
  await withApi(async (api) => {
    const attempt = { who: "guest", request: "POST /login", body: "{}" } as const;
    const flood = Array.from({ length: 1200 }, () => api.send(attempt));
    const counts = new Map<number, number>();
    for (const { status, body } of await Promise.all(flood)) {
      await body?.cancel();
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    assert.deepEqual([...counts].sort(), [[400, 10], [429, 1190]]);
  });
});

Deno.test("POST /login refuses web pages of other origins and does not count them", async () => {
  const foreign = [
    { origin: "http://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site", origin: "http://localhost" },
    { "sec-fetch-site": "same-site" },
  ];
  const own: Record<string, string>[] = [
    {},
    { origin: "http://localhost" },
    { "sec-fetch-site": "same-origin", origin: "http://behind.a.proxy" },
    { "sec-fetch-site": "none" },
    { "content-type": "application/json" },
    { "content-type": "application/x-www-form-urlencoded" },
  ];
  await withAdmin(async (api) => {
    const attempt = { who: "guest", request: "POST /login", body: CREDENTIALS } as const;
    for (let times = 0; times < 3; times++) {
      await api.expect(foreign.map((headers) => ({ ...attempt, headers, status: 403 })));
    }
    await api.expect(own.map((headers) => ({ ...attempt, headers, status: 200 })));
  });
});

Deno.test("GET /session names the admin until the session ends", async () => {
  await withAdmin(async (api) => {
    const headers = await logIn(api);
    const ask = { who: "guest", request: "GET /session", headers } as const;
    await api.expect([
      {
        ...ask,
        status: 200,
        matches: /"username":"admin","expires_at":"2026-11-21T00:00:00.000Z"/,
      },
      { who: "guest", request: "GET /session", status: 401 },
      { who: "operator", request: "GET /session", status: 401 },
      { ...ask, headers: { cookie: `muster_session=${"0".repeat(64)}` }, status: 401 },
    ]);
    api.services.clock.advance(11 * HOUR);
    const renewed = await api.send(ask);
    assert.equal(renewed.status, 200);
    const cookie = cookiesOf(renewed).get("muster_session");
    assert.ok(headers.cookie.includes(cookie?.value ?? "missing"));
    assert.ok(cookie?.attributes.includes("Max-Age=43200"));
    api.services.clock.advance(12 * HOUR);
    await api.expect([{ ...ask, status: 401 }]);
  });
});

Deno.test("a session opens nothing below /v1/", async () => {
  await withAdmin(async (api) => {
    const headers = await logIn(api);
    await api.expect(
      ["GET /v1/status", "GET /v1/admins", "POST /v1/agents/register", "GET /v1/nothing"]
        .map((request) => ({ who: "guest", request, headers, status: 401 })),
    );
  });
});

Deno.test("POST /logout by cookie needs the session's CSRF token", async () => {
  await withAdmin(async (api) => {
    const headers = await logIn(api);
    const { cookie, "x-csrf-token": csrf } = headers;
    const other = await logIn(api);
    const ask = { who: "guest", request: "GET /session" } as const;
    const leave = { who: "guest", request: "POST /logout" } as const;
    await api.expect([
      { ...leave, headers: { cookie }, status: 403, matches: /X-CSRF-Token/ },
      { ...leave, headers: { cookie, "x-csrf-token": "" }, status: 403 },
      { ...leave, headers: { cookie, "x-csrf-token": csrf.toUpperCase() }, status: 403 },
      { ...leave, headers: { cookie, "x-csrf-token": other["x-csrf-token"] }, status: 403 },
      { ...ask, headers, status: 200 },
    ]);
    const left = await api.send({ ...leave, headers });
    assert.equal(left.status, 204);
    for (const name of ["muster_session", "muster_csrf"]) {
      const cleared = cookiesOf(left).get(name);
      assert.equal(cleared?.value, "");
      assert.ok(cleared?.attributes.includes("Max-Age=0"));
    }
    await api.expect([
      { ...ask, headers, status: 401 },
      { ...ask, headers: other, status: 200 },
      { ...leave, headers, status: 204 },
      { ...leave, status: 204 },
    ]);
  });
});

Deno.test("cookies that another host of the site adds neither end a session nor begin one", async () => {
  await withAdmin(async (api) => {
    const { "x-csrf-token": csrf, cookie } = await logIn(api);
    const [own = ""] = cookie.split("; ");
    const [other = ""] = (await logIn(api)).cookie.split("; ");
    const forged = `muster_session=${"0".repeat(64)}`;
    const ask = { who: "guest", request: "GET /session" } as const;
    const leave = { who: "guest", request: "POST /logout" } as const;
    await api.expect([
      { ...ask, headers: { cookie: `${forged}; ${own}` }, status: 200 },
      { ...ask, headers: { cookie: `${own}; ${forged}; muster_session=` }, status: 200 },
      { ...ask, headers: { cookie: `${own};${own}` }, status: 200 },
      { ...ask, headers: { cookie: `${other}; ${own}` }, status: 401 },
      { ...ask, headers: { cookie: `${own}; ${other}` }, status: 401 },
      {
        ...leave,
        headers: { cookie: `${forged}; muster_csrf=x; ${own}`, "x-csrf-token": "x" },
        status: 403,
      },
      {
        ...leave,
        headers: { cookie: `${forged}; muster_csrf=x; ${own}`, "x-csrf-token": csrf },
        status: 204,
      },
    ]);
  });
});

Deno.test("over TLS, the cookies have the prefix __Host-, and no others count", async () => {
  await withAdmin(async (plain) => {
    const config = Object.assign({}, plain.services.config, { trusted_proxies: ["127.0.0.1"] });
    const api = plain.with({ config });
    const tls = { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.9" };
    const login = {
      who: "guest",
      request: "POST /login",
      body: CREDENTIALS,
      headers: tls,
      from: "127.0.0.1",
    } as const;
    const cookies = cookiesOf(await api.send(login));
    assert.deepEqual([...cookies.keys()], ["__Host-muster_session", "__Host-muster_csrf"]);
    const shared = ["Max-Age=43200", "Path=/", "SameSite=Lax", "Secure"];
    const { value, attributes } = cookies.get("__Host-muster_session") ?? assert.fail("none");
    assert.deepEqual(attributes, ["HttpOnly", ...shared]);
    assert.deepEqual(cookies.get("__Host-muster_csrf")?.attributes, shared);
    const ask = { who: "guest", request: "GET /session" } as const;
    const session = `__Host-muster_session=${value}`;
    await api.expect([
      { ...ask, headers: Object.assign({ cookie: session }, tls), from: "127.0.0.1", status: 200 },
      {
        ...ask,
        headers: Object.assign({ cookie: `muster_session=${value}` }, tls),
        from: "127.0.0.1",
        status: 401,
      },
      { ...ask, headers: { cookie: session }, status: 401 },
    ]);
  });
});
