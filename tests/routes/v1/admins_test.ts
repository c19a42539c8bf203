import assert from "node:assert/strict";
import { byEverybody, withApi } from "../../support/scenarios.ts";

const ADMINS = "/v1/admins";

Deno.test("/v1/admins is the operator's alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody(`GET ${ADMINS}`, ["operator"], 200),
      ...byEverybody(`POST ${ADMINS}`, ["operator"], 400),
      ...byEverybody(`PUT ${ADMINS}/nobody/password`, ["operator"], 400),
      ...byEverybody(`DELETE ${ADMINS}/nobody`, ["operator"], 404),
    ]);
  });
});

Deno.test("admins are made, listed and removed", async () => {
  await withApi(async (api) => {
    const created = await api.send({
      request: `POST ${ADMINS}`,
      body: { username: "Ann", password: "correct horse" },
    });
    assert.deepEqual([created.status, await created.text()], [201, ""]);
    assert.deepEqual(await api.answer(`GET ${ADMINS}`), [
      { username: "admin", created_at: "2026-11-20T12:00:00.000Z" },
      { username: "Ann", created_at: "2026-11-20T12:00:00.000Z" },
    ]);
    await api.expect([
      { request: `DELETE ${ADMINS}/admin`, status: 204 },
      { request: `DELETE ${ADMINS}/admin`, status: 404, matches: /admin/ },
      { request: `DELETE ${ADMINS}/ann`, status: 409, matches: /last admin/ },
      { request: `DELETE ${ADMINS}/caller`, status: 404 },
    ]);
  });
});

Deno.test("POST /v1/admins refuses taken names and malformed fields, naming the field", async () => {
  const whole = { username: "ann", password: "correct horse" };
  const table: readonly (readonly [unknown, number, RegExp])[] = [
    [{ ...whole, username: "ADMIN" }, 409, /taken/],
    [{ ...whole, username: "Caller" }, 409, /taken/],
    [{ ...whole, username: "bridge" }, 409, /reserved/],
    [{ ...whole, username: undefined }, 400, /username/],
    [{ ...whole, username: "" }, 400, /username/],
    [{ ...whole, username: 7 }, 400, /username/],
    [{ ...whole, password: undefined }, 400, /password/],
    [{ ...whole, password: "seven 7" }, 400, /password.*8/],
    [{ ...whole, password: ["correct horse"] }, 400, /password/],
    ["nonsense", 400, /JSON/],
    ["[]", 400, /JSON/],
  ];
  await withApi(async (api) => {
    const request = `POST ${ADMINS}`;
    await api.expect(table.map(([body, status, matches]) => ({ request, body, status, matches })));
  });
});

Deno.test("PUT /v1/admins/{username}/password replaces the password", async () => {
  await withApi(async (api) => {
    const request = `PUT ${ADMINS}/Admin/password`;
    const logIn = (password: string, status: number) => ({
      request: "POST /login",
      body: { username: "admin", password },
      status,
    });
    await api.expect([
      { request, body: { password: "correct horse" }, status: 204 },
      logIn("correct horse", 200),
      { request, body: { password: "another horse" }, status: 204 },
      logIn("correct horse", 401),
      logIn("another horse", 200),
      { request, body: { password: "short" }, status: 400, matches: /password/ },
      { request, body: {}, status: 400, matches: /password/ },
      { request: `PUT ${ADMINS}/ann/password`, body: { password: "a horse too" }, status: 404 },
      { request: `PUT ${ADMINS}/caller/password`, body: { password: "a horse too" }, status: 404 },
    ]);
  });
});
