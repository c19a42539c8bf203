import assert from "node:assert/strict";
import { byEverybody, withApi } from "../../support/scenarios.ts";

const REQUEST = "POST /v1/irc/accounts";
const PASSWORD = "correct horse";

Deno.test("/v1/irc/accounts is the operator's alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody("GET /v1/irc/accounts", ["operator"], 200),
      ...byEverybody(REQUEST, ["operator"], 400),
      ...byEverybody("PUT /v1/irc/accounts/nobody/password", ["operator"], 400),
      ...byEverybody("DELETE /v1/irc/accounts/nobody", ["operator"], 404),
    ]);
  });
});

Deno.test("an account of a person is made, listed and deleted", async () => {
  await withApi(async (api) => {
    const listed = { account: "Ann", created_at: "2026-11-20T12:00:00.000Z" };
    assert.deepEqual(await api.answer(REQUEST, { account: "Ann", password: PASSWORD }), {
      ...listed,
      server: "irc://irc.example:6667",
    });
    assert.deepEqual(await api.answer("GET /v1/irc/accounts"), [listed]);
    await api.expect([
      { request: "DELETE /v1/irc/accounts/caller", status: 404 },
      { request: "DELETE /v1/irc/accounts/ann", status: 204 },
      { request: "DELETE /v1/irc/accounts/ann", status: 404 },
      { request: REQUEST, body: { account: "ANN", password: PASSWORD }, status: 201 },
    ]);
  });
});

Deno.test("POST /v1/irc/accounts refuses malformed accounts", async () => {
  const table: readonly (readonly [unknown, number, RegExp])[] = [
    [{ password: PASSWORD }, 400, /account/],
    [{ account: "two words", password: PASSWORD }, 400, /account/],
    [{ account: "ann" }, 400, /password/],
    [{ account: "ann", password: 12345678 }, 400, /password/],
    [{ account: "ann", password: "seven77" }, 400, /password/],
    [{ account: "ann", password: "with\0nul in it" }, 400, /password/],
    [{ account: "Caller", password: PASSWORD }, 409, /Caller/],
    [{ account: "ChanServ", password: PASSWORD }, 409, /reserved/],
  ];
  await withApi(async (api) => {
    await api.expect(
      table.map(([body, status, matches]) => ({ request: REQUEST, body, status, matches })),
    );
    assert.deepEqual(await api.answer("GET /v1/irc/accounts"), []);
  });
});

Deno.test("PUT /v1/irc/accounts/{account}/password replaces a person's password", async () => {
  await withApi(async (api) => {
    const request = "PUT /v1/irc/accounts/ANN/password";
    await api.answer(REQUEST, { account: "Ann", password: PASSWORD });
    await api.expect([
      { request, body: { password: "another horse" }, status: 204 },
      { request, body: { password: "seven77" }, status: 400, matches: /at least 8/ },
      { request, body: {}, status: 400, matches: /password/ },
      {
        request: "PUT /v1/irc/accounts/caller/password",
        body: { password: "another horse" },
        status: 404,
      },
    ]);
    const { logins, sessions } = api.services;
    const logIn = (password: string) =>
      logins.logIn({ name: "ann", password, address: "192.0.2.9", door: "sasl" }, ["person"]);
    assert.equal((await logIn(PASSWORD)).kind, "refused");
    assert.equal((await logIn("another horse")).kind, "accepted");
    assert.deepEqual(sessions.closed, ["Ann: Password changed"]);
  });
});
