import assert from "node:assert/strict";
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
