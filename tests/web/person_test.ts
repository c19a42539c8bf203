import assert from "node:assert/strict";
import type { TokenRequest } from "../../services/people/identity/mod.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { type TestWeb, withWeb } from "../support/web.ts";

/** Makes a person a member who may write. */
async function letWrite({ api }: TestWeb, name: string): Promise<void> {
  await api.services.hosting.projects.setMember("demo", name, "write", BY_OPERATOR);
}

Deno.test("a person's page shows their work and what they did, to those who may see the project", async () => {
  await withWeb(async (web) => {
    const { person, admin, guest, addPerson } = web;
    const [bob, stranger] = [await addPerson("bob"), await addPerson("eve")];
    await letWrite(web, "ann");
    await letWrite(web, "bob");
    const made = await person.post("/projects/demo/tickets/new", {
      action: "file",
      title: "It crashes",
    }, { follow: false });
    assert.equal(made.status, 303, made.text);
    const [, ticket = ""] = /tickets\/([0-9a-f]+)/.exec(made.to) ?? [];
    const claimed = await person.post(`/projects/demo/tickets/${ticket}`, { action: "claim" });
    assert.equal(claimed.status, 200, claimed.text);
    for (const visitor of [person, bob]) {
      const { text, html } = await visitor.see("/people/ann");
      assert.match(text, /ann person Work Ticket It crashes demo · the claim lapses/);
      assert.match(text, /What they did .*It crashes/);
      assert.match(html, new RegExp(`href="/projects/demo/tickets/${ticket}"`));
    }
    // Names lead there.
    assert.match((await bob.see("/")).html, /<a href="\/people\/ann">ann<\/a>/);
    assert.match((await person.see("/account")).html, /href="\/people\/ann"/);
    assert.match((await admin.see("/people")).html, /href="\/people\/ann"/);
    // Who may not see the project sees nothing of it; admins know the account, others do not.
    assert.doesNotMatch((await admin.see("/people/ann")).html, /It crashes|demo/);
    const [hidden, missing] = [
      await stranger.get("/people/ann"),
      await stranger.get("/people/zoe"),
    ];
    assert.deepEqual([hidden.status, missing.status], [404, 404]);
    assert.equal(hidden.text.replaceAll('"ann"', '"zoe"'), missing.text);
    assert.equal((await guest.get("/people/ann", { follow: false })).status, 303);
  });
});

Deno.test("an account without work has a page for itself and for admins, and an agent has its own", async () => {
  await withWeb(async ({ person, admin }) => {
    assert.match((await person.see("/people/ann")).text, /Nothing of late.*Your account/);
    assert.match((await admin.see("/people/ANN")).text, /Nothing of late.*Write to ann/);
    assert.equal((await person.get("/people/caller", { follow: false })).to, "/agents/caller");
    assert.equal((await admin.get("/people/nobody-here")).status, 404);
  });
});

Deno.test("names in the work of a project lead to people and agents, if the visitor may know them", async () => {
  await withWeb(async (web) => {
    const { person, admin, guest, addPerson, api } = web;
    const bob = await addPerson("bob");
    await letWrite(web, "ann");
    await letWrite(web, "bob");
    await api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    const { ticket, review } = await workOf(web);
    const ann = /<a class="strong plain-link" href="\/people\/ann">ann<\/a>/;
    const pages = [
      "tickets",
      "tickets?view=board",
      `tickets/${ticket}`,
      "workspaces",
      "workspaces/mine",
      "reviews",
      `reviews/${review}`,
      "wiki",
      "wiki/Home",
    ];
    for (const page of pages.map((path) => `/projects/demo/${path}`)) {
      for (const visitor of [person, bob, admin]) {
        assert.match((await visitor.see(page)).html, ann, page);
      }
      const { html, text } = await guest.see(page);
      assert.match(text, /\bann\b/, page);
      assert.doesNotMatch(html, /href="\/people/, page);
    }
    const caller = /<a class="strong plain-link" href="\/agents\/caller">caller<\/a>/;
    assert.match((await bob.see(`/projects/demo/reviews/${review}`)).html, caller);
    // Bob may know the members of his projects, also those who did nothing of late.
    await addPerson("idle");
    assert.equal((await bob.get("/people/idle")).status, 404);
    await letWrite(web, "idle");
    assert.equal((await bob.get("/people/idle")).status, 200);
    // Who was a member once is a name.
    await api.services.hosting.projects.removeMember("demo", "ann", BY_OPERATOR);
    assert.doesNotMatch((await bob.see(`/projects/demo/reviews/${review}`)).html, ann);
  });
});

/** Ann holds a ticket, has a workspace whose review `caller` comments on, and writes in the wiki. */
async function workOf(
  { api, answer, caller }: TestWeb,
): Promise<{ readonly ticket: string; readonly review: number }> {
  const scopes: TokenRequest["scopes"] = ["write"];
  const request = { owner: "ann", name: "x", scopes, project: null, expires_at: null };
  const { token } = await api.services.tokens.create(request, BY_OPERATOR);
  const asAnn = (call: string, body: unknown = {}) => answer(call, { as: `Bearer ${token}`, body });
  const { uuid: ticket } = await asAnn("POST /api/tickets", { title: "It crashes" });
  await asAnn(`POST /api/tickets/${ticket}/claim`);
  await asAnn("POST /api/workspaces/create", { name: "mine", ticket });
  await asAnn("POST /api/workspaces/mine/commit", {
    message: "Mend it",
    changes: [{ path: "a.txt", content: "a\n" }],
  });
  const review = { title: "Mend it", workspace: "mine" };
  const { id } = await asAnn("POST /api/reviews/create", review);
  await answer(`POST /api/reviews/${id}/comment`, { as: caller, body: { body: "Good" } });
  await asAnn("PUT /api/wiki/Home", { content: "Hello" });
  return { ticket, review: id };
}
