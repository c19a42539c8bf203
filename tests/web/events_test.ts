import assert from "node:assert/strict";
import { OPERATOR } from "../../services/people/identity/mod.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { withWeb } from "../support/web.ts";

Deno.test("the event log is filtered by types and project, and paged to its beginning", async () => {
  await withWeb(async ({ admin, person, answer, caller, api: { services } }) => {
    assert.equal((await person.get("/events")).status, 403);
    const { ircAccounts, agents } = services;
    for (let number = 0; number < 60; number++) {
      await agents.speechControls.pause("caller", { reason: `${number}` }, BY_OPERATOR);
    }
    await ircAccounts.create({ account: "eve", password: "long enough" }, BY_OPERATOR);
    await answer("POST /api/tickets", { as: caller, body: { title: "<i>First</i>" } });
    const newest = await admin.see("/events");
    assert.match(newest.text, /caller filed <i>First<\/i> in demo .*operator made the account eve/);
    assert.match(newest.html, /data-live-part="log" data-live-on="\*"/);
    assert.match(newest.text, /Events 1 to \d+ are in one chain of hashes.*The last hash is/);
    const [, older = ""] = /href="([^"]+)" rel="next">Older/.exec(newest.html) ?? [];
    const second = await admin.see(older.replaceAll("&amp;", "&"));
    assert.doesNotMatch(second.html, /data-live-part="log"/);
    assert.match(second.text, /registered the agent caller/);
    assert.doesNotMatch(second.text, /Older/);
    const accounts = await admin.see("/events?types=account.*");
    assert.match(accounts.text, /made the account eve/);
    assert.doesNotMatch(accounts.text, /paused caller/);
    assert.match(accounts.html, /data-live-on="account\.\*"/);
    const project = await admin.see("/events?project=demo");
    assert.match(project.text, /caller filed <i>First<\/i> in demo .*made the project demo/);
    assert.doesNotMatch(project.text, /paused caller/);
    assert.match((await admin.see("/events?types=policy.changed")).text, /No event fits/);
  });
});

Deno.test("muster itself, not the operator, comments on the ticket of a landing", async () => {
  await withWeb(async ({ admin, answer, caller, api: { services: { hosting } } }) => {
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "First" } });
    const body = { comment: "Soon" };
    await answer(`POST /api/tickets/${uuid}/comments`, { as: caller, body });
    assert.match((await admin.see("/events")).text, /caller commented on First in demo/);
    const { project } = hosting.projects.find("demo")!;
    const byMuster = { principal: OPERATOR, address: null, requestId: null };
    const note = { user: "muster", comment: "It has landed", caller: byMuster };
    await hosting.tickets.note(project, uuid, note);
    assert.match((await admin.see("/events")).text, /muster commented on First in demo/);
  });
});

Deno.test("a wrong filter of events is refused in words", async () => {
  await withWeb(async ({ admin }) => {
    for (const query of ["types=No%20type", "before=soon"]) {
      const refused = await admin.get(`/events?${query}`);
      assert.equal(refused.status, 400, query);
      assert.match(refused.text, /must be/);
    }
    assert.equal((await admin.get("/events?project=none")).status, 404);
  });
});

Deno.test("the last events before a number come without gaps", async () => {
  await withWeb(async ({ api: { services: { eventLog } } }) => {
    const { newest } = eventLog;
    const page = await eventLog.read({ before: newest, limit: 3 });
    assert.deepEqual(page.events.map(({ seq }) => seq), [newest - 3, newest - 2, newest - 1]);
    const first = await eventLog.read({ before: 1, limit: 3 });
    assert.deepEqual(first.events, []);
    const typed = await eventLog.read({ before: newest, types: ["agent.*"], limit: 1 });
    assert.equal(typed.events.length, 1);
  });
});

Deno.test("metrics are drawn and stand in tables", async () => {
  await withWeb(async ({ admin, person, api: { services } }) => {
    assert.equal((await person.get("/metrics")).status, 403);
    services.metricHistory.start();
    services.clock.advance(30_000);
    const page = await admin.see("/metrics");
    assert.match(page.text, /\d+ agents, started (just now|.* ago)/);
    assert.match(page.text, /HTTP requests 0\/s/);
    assert.match(page.text, /Memory Resident \d+ MB Heap \d+ MB/);
    assert.match(page.text, /everything is up/);
    assert.match(page.html, /<path class="line line-0" d="M0\.0 /);
    assert.match(page.html, /<caption[^>]*>HTTP requests<\/caption>/);
  });
});
