import assert from "node:assert/strict";
import { join } from "node:path";
import { eventTypes } from "../../support/services.ts";
import { byEverybody, withApi } from "../../support/scenarios.ts";

const REQUEST = "POST /v1/tokens";

Deno.test("/v1/tokens is the operator's and admins' alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody("GET /v1/tokens", ["operator"], 200),
      ...byEverybody(REQUEST, ["operator"], 400),
      ...byEverybody("DELETE /v1/tokens/nothing", ["operator"], 404),
      ...byEverybody("POST /v1/tokens/api/rotate", [], 403)
        .filter(({ who }) => who !== "operator" && who !== "admin"),
      { who: "admin", request: "POST /v1/tokens/api/rotate", status: 200 },
      { who: "operator", request: "GET /v1/tokens", status: 401 },
    ]);
  });
});

Deno.test("a token is shown once and ends when it is deleted", async () => {
  await withApi(async (api) => {
    for (const { id } of await api.services.tokens.list()) {
      await api.expect([{ request: `DELETE /v1/tokens/${id}`, status: 204 }]);
    }
    await api.expect((["reader", "writer"] as const).map((who) => (
      { who, request: "GET /v1/status", status: 401 }
    )));
    const body = {
      owner: "Caller",
      name: "laptop",
      scopes: ["read"],
      project: null,
      expires_at: "2027-01-31T13:00:00+01:00",
    };
    const response = await api.send({ request: REQUEST, body });
    assert.equal(response.status, 201);
    const { id, token, ...issued } = await response.json();
    assert.match(token, /^[0-9a-f]{40}$/);
    assert.deepEqual(issued, {
      owner: "caller",
      name: "laptop",
      scopes: ["read"],
      project: null,
      created_at: "2026-11-20T12:00:00.000Z",
      expires_at: "2027-01-31T12:00:00.000Z",
      last_used: null,
    });
    assert.deepEqual(await api.answer("GET /v1/tokens"), [{ id, ...issued }]);
    await api.expect([
      { request: `DELETE /v1/tokens/${id}`, status: 204 },
      { request: `DELETE /v1/tokens/${id}`, status: 404 },
    ]);
  });
});

Deno.test("POST /v1/tokens names the field that is wrong", async () => {
  const whole = { owner: "caller", name: "laptop", scopes: ["read"] };
  const table: readonly (readonly [unknown, number, RegExp])[] = [
    [{ ...whole, owner: undefined }, 400, /owner/],
    [{ ...whole, owner: "nobody" }, 404, /nobody/],
    [{ ...whole, name: undefined }, 400, /name/],
    [{ ...whole, name: "" }, 400, /name/],
    [{ ...whole, scopes: undefined }, 400, /scopes/],
    [{ ...whole, scopes: "read" }, 400, /scopes/],
    [{ ...whole, scopes: [] }, 400, /scopes/],
    [{ ...whole, scopes: ["read", "root"] }, 400, /scopes/],
    [{ ...whole, scopes: ["status:write"] }, 400, /scopes/],
    [{ ...whole, project: 7 }, 400, /project/],
    [{ ...whole, project: "website" }, 400, /either .*owner.* or .*project/],
    [{ ...whole, owner: undefined, project: "website" }, 404, /website/],
    [{ ...whole, expires_at: "tomorrow" }, 400, /expires_at/],
    [{ ...whole, expires_at: "2026-11-20T12:00:00Z" }, 400, /expires_at/],
  ];
  await withApi(async (api) => {
    const before = await api.answer("GET /v1/tokens");
    await api.expect(
      table.map(([body, status, matches]) => ({ request: REQUEST, body, status, matches })),
    );
    assert.deepEqual(await api.answer("GET /v1/tokens"), before);
  });
});

Deno.test("POST /v1/tokens/api/rotate replaces the API token, also in its file", async () => {
  await withApi(async (api) => {
    const request = "POST /v1/tokens/api/rotate";
    const response = await api.send({ request });
    const { token, ...more } = await response.json();
    assert.deepEqual([response.status, more], [200, {}]);
    assert.equal(await Deno.readTextFile(join(api.services.folder, "api_token")), token);
    const headers = { authorization: `Bearer ${token}` };
    await api.expect([
      { request: "GET /v1/status", status: 401 },
      { who: "guest", request: "GET /v1/status", headers, status: 200 },
      { who: "reader", request: "GET /v1/status", status: 200 },
    ]);
    assert.equal((await eventTypes(api.services)).at(-1), "api_token.rotated");
  });
});

Deno.test("an API token that the environment pins is not rotated", async () => {
  await withApi(async (api) => {
    const request = "POST /v1/tokens/api/rotate";
    await api.expect([
      { request, status: 409, matches: /MUSTER_API_TOKEN/ },
      { request: "GET /v1/status", status: 200 },
    ]);
  }, { pinnedToken: "a-token-of-more-than-thirty-two-characters" });
});
