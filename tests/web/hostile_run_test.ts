import assert from "node:assert/strict";
import { BY_OPERATOR } from "../support/services.ts";
import { assertInert, assertShows, HOSTILE_LINES } from "../support/hostile_texts.ts";
import { withWeb } from "../support/web.ts";
import { THOROUGH } from "../support/level.ts";

Deno.test("hostile texts run on no page of the home and the administration", THOROUGH, async () => {
  await withWeb(async ({ admin, person, answer, send, caller, api: { services } }) => {
    const { tokens, ircBans, agents, policies, hosting: { projects } } = services;
    await projects.setMember("demo", "ann", "write", BY_OPERATOR);
    await projects.setMember("demo", "admin", "write", BY_OPERATOR);
    for (const [index, { text }] of HOSTILE_LINES.entries()) {
      const name = text.slice(0, 100);
      const request = { owner: "caller", name, scopes: ["read" as const], project: null };
      await tokens.create({ ...request, expires_at: null }, BY_OPERATOR);
      const mask = `192.0.2.${index}`;
      await ircBans.create({ mask, reason: text, duration_seconds: null }, BY_OPERATOR);
      // The API refuses invisible characters in titles.
      const filed = await send("POST /api/tickets", { as: caller, body: { title: text } });
      const { uuid } = await filed.json();
      await policies.change({ hostile: { enabled: true, [text]: text } }, BY_OPERATOR);
      if (index % 10 > 0 || !filed.ok) continue;
      for (let strikes = 0; strikes < 3; strikes++) {
        await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
        await answer(`POST /api/tickets/${uuid}/release`, { as: caller, body: {} });
      }
    }
    const [{ text: first }] = HOSTILE_LINES as [typeof HOSTILE_LINES[0], ...typeof HOSTILE_LINES];
    await agents.speechControls.pause("caller", { reason: first }, BY_OPERATOR);
    for (const path of ["/", "/agents", "/agents/caller"]) {
      const page = await person.see(path);
      assertInert(page, `ann, ${path}`);
    }
    const pages = [
      "/",
      "/agents",
      "/agents/caller",
      "/events",
      "/events?types=project.ticket",
      "/settings/tokens",
      "/settings/tokens?page=2",
      "/settings/bans",
      "/settings/policies?bot=hostile",
    ];
    for (const path of pages) assertInert(await admin.see(path), path);
    assertShows(await admin.see("/agents/caller"), first, "the reason of a pause");
    // The time of the test stands still, and bans of the same time are in any order.
    const ban = await admin.see("/settings/bans?q=192.0.2.0");
    assertShows(ban, first, "the reason of a ban");
    assertShows(await person.see("/"), first, "a ticket that is stuck");
  });
});

Deno.test("hostile texts in addresses and fields run on no page", THOROUGH, async () => {
  await withWeb(async ({ admin }) => {
    for (const { aim, text } of HOSTILE_LINES) {
      const value = encodeURIComponent(text);
      for (
        const path of ["/agents?q=", "/people?q=", "/settings/tokens?q=", "/settings/clients?q="]
      ) {
        const page = await admin.get(path + value);
        assert.equal(page.status, 200, aim);
        assertInert(page, `${path}: ${aim}`);
      }
      for (const path of ["/events?types=", "/settings/policies?bot=", "/agents/"]) {
        assertInert(await admin.get(path + value), `${path}: ${aim}`);
      }
    }
    for (const { aim, text } of HOSTILE_LINES.slice(0, 20)) {
      const form = { action: "add", name: text, password: text };
      assertInert(await admin.post("/people", form), `a name: ${aim}`);
      const token = { action: "create", owner: text, project: text, name: text, scopes: text };
      assertInert(await admin.post("/settings/tokens", token), `a token: ${aim}`);
    }
  });
});
