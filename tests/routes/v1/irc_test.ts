import assert from "node:assert/strict";
import { byEverybody, withApi } from "../../support/scenarios.ts";

const BANS = "POST /v1/irc/bans";

Deno.test("/v1/irc/bans and /v1/irc/clients are the operator's alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody("GET /v1/irc/bans", ["operator"], 200),
      ...byEverybody("GET /v1/irc/clients", ["operator"], 200),
      ...byEverybody(BANS, ["operator"], 400),
      ...byEverybody("DELETE /v1/irc/bans/nothing", ["operator"], 404),
    ]);
  });
});

Deno.test("a ban is made, listed and removed", async () => {
  await withApi(async (api) => {
    const made = await api.answer(BANS, { mask: "*@192.0.2.7", duration_seconds: 60 });
    const { id, ...rest } = made as Record<string, unknown>;
    assert.deepEqual(rest, {
      mask: "192.0.2.7",
      reason: "",
      set_by: "operator",
      created_at: "2026-11-20T12:00:00.000Z",
      expires_at: "2026-11-20T12:01:00.000Z",
    });
    assert.deepEqual(await api.answer("GET /v1/irc/bans"), [made]);
    await api.expect([
      { request: `DELETE /v1/irc/bans/${id}`, status: 204 },
      { request: `DELETE /v1/irc/bans/${id}`, status: 404 },
      { request: BANS, body: { mask: "192.0.2.0/24" }, status: 201 },
      { request: "DELETE /v1/irc/bans/*@192.0.2.9%2F24", status: 204 },
      { request: "DELETE /v1/irc/bans/192.0.2.0%2F24", status: 404 },
    ]);
  });
});

Deno.test("POST /v1/irc/bans refuses malformed bans", async () => {
  const table: readonly (readonly [unknown, number, RegExp])[] = [
    [{}, 400, /mask/],
    [{ mask: 7 }, 400, /mask/],
    [{ mask: "" }, 400, /mask/],
    [{ mask: "*@*" }, 400, /far too wide/],
    [{ mask: "a@b.c", duration_seconds: 0 }, 400, /duration_seconds/],
    [{ mask: "a@b.c", reason: "two\nlines" }, 400, /reason/],
    [{ mask: "account:nobody" }, 404, /nobody/],
    [{ mask: "account:caller" }, 409, /agent/],
  ];
  await withApi(async (api) => {
    await api.expect(
      table.map(([body, status, matches]) => ({ request: BANS, body, status, matches })),
    );
    assert.deepEqual(await api.answer("GET /v1/irc/bans"), []);
  });
});

Deno.test("GET /v1/irc/clients lists the connected clients", async () => {
  await withApi(async (api) => {
    const [client] = await api.answer("GET /v1/irc/clients") as unknown[];
    assert.deepEqual(client, {
      nick: "ann",
      account: null,
      address: "192.0.2.7",
      host: "0123456789.ip",
      operator: false,
      channels: 2,
      transport: "tls",
      connected_at: "2026-11-20T12:00:00.000Z",
      idle_seconds: 0,
      queued_bytes: 0,
    });
  });
});
