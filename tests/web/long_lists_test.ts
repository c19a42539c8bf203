import assert from "node:assert/strict";
import { statement } from "../../services/engines/database/mod.ts";
import { tokenRequestSchema } from "../../services/people/identity/schemas.ts";
import { anAgent, BY_OPERATOR } from "../support/services.ts";
import { type TestWeb, withWeb } from "../support/web.ts";

/** A number of three digits, so that names sort as their numbers do. */
function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${number}`.padStart(3, "0"));
}

/** Adds accounts without passwords. */
async function addAccounts(
  { api: { services } }: TestWeb,
  kind: "person" | "admin",
  names: readonly string[],
): Promise<void> {
  const rows = names.map((name) => ({
    id: name,
    name,
    name_folded: name,
    kind,
    secret_scheme: "argon2id" as const,
    secret: "",
    created_at: 0,
    revoked_at: null,
  }));
  const { database, accounts } = services;
  await database.commit({
    statements: [statement(database.tables.insertInto("accounts").values(rows))],
  });
  await accounts.load();
}

Deno.test("accounts of people and of admins come in pages of their own, with one search", () =>
  withWeb(async (web) => {
    await addAccounts(web, "person", numbered(120).map((number) => `person${number}`));
    await addAccounts(web, "admin", numbered(60).map((number) => `boss${number}`));
    const first = await web.admin.see("/people");
    assert.match(first.text, /Accounts 121 .* person048 .* Page 1 of 3 .* Admins 61 .* boss048 /);
    assert.doesNotMatch(first.text, /person049|boss049/);
    assert.match(first.text, /Page 1 of 3 .* Page 1 of 2/);
    const other = await web.admin.see("/people?page=3&admins=2");
    assert.match(other.text, /person119 .* Page 3 of 3 .* boss049 .* boss059 .* Page 2 of 2/);
    assert.match(other.html, /href="\/people\?page=2&amp;admins=2"/);
    assert.match(other.html, /href="\/people\?page=3&amp;admins=1"/);
    const found = await web.admin.see("/people?q=SS05");
    assert.match(found.text, /No account fits.* boss050 .* boss059/);
    assert.doesNotMatch(found.text, /boss049/);
    assert.match((await web.admin.see("/people?q=person000")).text, /person000 .* No admin fits/);
    assert.match(first.html, /aria-label="Pages".*aria-label="Pages of admins"/s);
  }));

Deno.test("members, tokens and bans come in pages, with a search", () =>
  withWeb(async (web) => {
    const { admin, api: { services } } = web;
    const { hosting: { projects }, tokens, ircBans, clock } = services;
    const names = numbered(60).map((number) => `person${number}`);
    await addAccounts(web, "person", names);
    for (const name of names) {
      await projects.setMember("demo", name, "read", BY_OPERATOR);
      const request = { project: "demo", name: `key ${name}`, scopes: ["read"] };
      const findProject = (slug: string) => projects.find(slug)?.project.id ?? null;
      await tokens.create(tokenRequestSchema.parse(request), BY_OPERATOR, findProject);
      clock.advance(1);
      const ban = { mask: `${name}!*@*`, reason: "spam", duration_seconds: null };
      await ircBans?.create(ban, BY_OPERATOR);
    }
    const members = "/projects/demo/settings/members";
    const first = await admin.see(members);
    assert.match(first.text, /Members 6\d .*person000 .* Page 1 of 2/);
    assert.doesNotMatch(first.html, /Role of person059/);
    assert.match((await admin.see(`${members}?page=2`)).html, /Role of person059/);
    const found = (await admin.see(`${members}?q=SON01`)).html.match(/label="Role of \w+"/g) ?? [];
    assert.equal(new Set(found).size, 10);

    const keys = "/projects/demo/settings/tokens";
    const newest = await admin.see(keys);
    assert.match(newest.text, /key person059 .* key person010 .* Page 1 of 2/);
    assert.doesNotMatch(newest.text, /key person009/);
    assert.match((await admin.see(`${keys}?page=2`)).text, /key person009 .* key person000/);

    const all = await admin.see("/settings/tokens?page=2");
    assert.match(all.text, /key person009 for the project demo .* key person000 .* Page 2 of 2/);
    const some = await admin.see("/settings/tokens?q=Demo");
    assert.match(some.text, /key person059 .* Page 1 of 2/);
    assert.match((await admin.see("/settings/tokens?q=son007")).text, /key person007 for/);

    const bans = await admin.see("/settings/bans");
    assert.match(bans.text, /Page 1 of 2/);
    assert.equal(bans.html.match(/Lift the ban/g)?.length, 50);
    assert.match((await admin.see("/settings/bans?q=son007")).text, /person007!\*@\*/);
  }));

Deno.test("halts come in pages", () =>
  withWeb(async ({ admin, api: { services } }) => {
    const agents = numbered(60).map((number) => `agent${number}`);
    for (const nick of agents) await anAgent(services, nick);
    await services.agents.halts.halt({ types: [], agents, reason: null }, BY_OPERATOR);
    const halts = await admin.see("/halt?page=2");
    assert.match(halts.text, /agent059: halted .* Page 2 of 2/);
    assert.doesNotMatch(halts.text, /agent049: halted/);
  }));

Deno.test("budgets come in pages, and an agent's page has its own tokens", () =>
  withWeb(async (web) => {
    const { admin, api: { services } } = web;
    for (const number of numbered(60)) {
      await anAgent(services, `agent${number}`);
      const budget = { max_cost_micro_usd: 1, max_tokens: null, warn_percent: 80 };
      await services.accounting.budgets.set(`agent.agent${number}.day`, budget, BY_OPERATOR);
      const request = { owner: `agent${number}`, name: `of ${number}`, scopes: ["read"] };
      await services.tokens.create(tokenRequestSchema.parse(request), BY_OPERATOR);
    }
    const budgets = await admin.see("/settings/usage?budgets=2");
    assert.match(budgets.text, /Page 2 of 2/);
    assert.equal(budgets.html.match(/Remove agent\.agent\d+\.day/g)?.length, 10);
    const agent = await admin.see("/agents/agent007");
    assert.match(agent.text, /of 007/);
    assert.doesNotMatch(agent.text, /of 008/);
  }));

Deno.test("a page beyond the end of a list leads to the last one", () =>
  withWeb(async ({ api, answer, admin }) => {
    await api.services.hosting.projects.setMember("demo", "admin", "read", BY_OPERATOR);
    await answer("POST /api/tickets", { body: { title: "It crashes" } });
    const { html } = await admin.see("/projects/demo/tickets?page=9");
    assert.match(html, /<a href="\/projects\/demo\/tickets\?page=1" rel="prev">/);
  }));
