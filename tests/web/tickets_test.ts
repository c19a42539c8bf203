import assert from "node:assert/strict";
import {
  assertInert,
  assertShows,
  HOSTILE_LINES,
  HOSTILE_TEXTS,
} from "../support/hostile_texts.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { type TestWeb, withWeb } from "../support/web.ts";
import { THOROUGH } from "../support/level.ts";

const TICKETS = "/projects/demo/tickets";

/** Makes `ann` a member. */
async function join({ api }: TestWeb, role: "read" | "write" | "admin"): Promise<void> {
  await api.services.hosting.projects.setMember("demo", "ann", role, BY_OPERATOR);
}

Deno.test("a member files a ticket with every field; a refused form keeps what was entered", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    await web.answer("POST /api/tickets/fields", { body: { name: "customer", type: "text" } });
    const fields = {
      action: "file",
      title: "The parser crashes",
      description: "Send an *empty* line",
      type: "Code_Defect",
      severity: "Severe",
      subsystem: "irc",
      "field:customer": "ACME",
    };
    const refused = await web.person.post(`${TICKETS}/new`, { ...fields, title: " " });
    assert.equal(refused.status, 400);
    assertShows(refused, "Send an *empty* line");
    assert.match(refused.html, /value="ACME"/);
    assert.match(refused.html, /value="Severe" selected/);

    const filed = await web.person.post(`${TICKETS}/new`, fields);
    assert.match(filed.text, /The ticket is filed/);
    assert.match(filed.html, /Send an <em>empty<\/em> line/);
    assert.match(filed.text, /customer ACME/);
    assert.match(filed.text, /ann filed this ticket/);
    const { tickets: [ticket] } = await web.answer("GET /api/tickets");
    const { title, type, severity, subsystem } = ticket;
    assert.deepEqual([title, type, severity, subsystem], [
      "The parser crashes",
      "Code_Defect",
      "Severe",
      "irc",
    ]);
  });
});

Deno.test("a ticket is edited, and only what differs is a change", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const body = { title: "Crash", comment: "It crashes", priority: "Low" };
    const { uuid } = await web.answer("POST /api/tickets", { as: web.caller, body });
    const editor = `${TICKETS}/${uuid}?view=edit`;
    assert.match((await web.person.see(editor)).html, /value="Low" selected/);
    const fields = { action: "edit", title: "Crash", description: "It crashes", priority: "High" };
    const refused = await web.person.post(editor, { ...fields, title: "" });
    assert.equal(refused.status, 400);
    assert.match(refused.html, /value="High" selected/);
    const saved = await web.person.post(editor, fields);
    assert.match(saved.text, /The ticket is saved/);
    assert.match(saved.text, /ann set priority to High \(was Low\)/);
    const { changes } = await web.answer(`GET /api/tickets/${uuid}/changes`);
    const names = changes[0].fields.map(({ name }: { name: string }) => name);
    assert.deepEqual(names.filter((name: string) => name !== "login"), ["priority"]);
  });
});

Deno.test("work is given on the pages, and lists show and filter it", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const { answer, person } = web;
    await answer("POST /api/tickets", { body: { title: "Dig" } });
    const fields = { action: "file", title: "Build", assignee: "me", labels: "house, big one" };
    const filed = await person.post(`${TICKETS}/new`, { ...fields, blocked_by: "#1" });
    assert.match(filed.text, /house big one blocked by #1 assigned to ann/);
    const { tickets: [ticket] } = await answer("GET /api/tickets");
    assert.deepEqual([ticket.assignee, ticket.labels], ["ann", ["house", "big one"]]);
    const list = await person.see(`${TICKETS}?assignee=me&label=HOUSE&blocked=true`);
    assert.match(list.text, /Build .*blocked by #1 assigned to ann/);
    assert.doesNotMatch(list.text, /Dig/);
    assert.match((await person.see(`${TICKETS}?view=board`)).text, /blocked by #1/);
    const wrong = await person.post(`${TICKETS}/2?view=edit`, {
      action: "edit",
      title: "Build",
      blocked_by: "#2",
    });
    assert.equal(wrong.status, 409);
    assertShows(wrong, "A ticket cannot wait for itself");
    const edited = await person.post(`${TICKETS}/2?view=edit`, {
      action: "edit",
      title: "Build",
      blocked_by: "",
      labels: "",
      assignee: "",
    });
    assert.doesNotMatch(edited.text, /blocked by #1 assigned|house big one assigned/);
    const { blocked_by, labels, assignee } = await answer("GET /api/tickets/2");
    assert.deepEqual([blocked_by, labels, assignee], [[], [], ""]);
  });
});

Deno.test("a comment is rendered by its markup, and may close and reopen the ticket", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const { uuid } = await web.answer("POST /api/tickets", { body: { title: "Crash" } });
    const page = `${TICKETS}/${uuid}`;
    const comment = { action: "comment", comment: "It *works*", mimetype: "text/x-markdown" };
    const refused = await web.person.post(page, { ...comment, comment: "" });
    assert.equal(refused.status, 400);
    assert.match((await web.person.post(page, comment)).html, /It <em>works<\/em>/);
    const closed = await web.person.post(page, { ...comment, then: "Closed" });
    assert.match(closed.text, /The ticket is closed/);
    assert.match(closed.text, /Comment and reopen/);
    const reopened = await web.person.post(page, { ...comment, comment: "", then: "Open" });
    assert.match(reopened.text, /The ticket is open again/);
  });
});

Deno.test("a person claims a ticket, renews and releases it, and resets strikes", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const { answer, caller, person } = web;
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "Crash" } });
    const page = `${TICKETS}/${uuid}`;
    const claimed = await person.post(page, { action: "claim" });
    assert.match(claimed.text, /ann holds this ticket/);
    assert.match(claimed.text, /Renew the claim/);
    assert.match((await person.see(TICKETS)).text, /held by ann/);
    assert.match((await person.post(page, { action: "release" })).text, /Nobody holds this ticket/);
    const released = (await person.see(page)).text;
    assert.match(released, /1 claim ended without a result/);
    assert.match(
      released,
      /filed this ticket .*ann claimed this ticket .*ann released this ticket/,
    );
    await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
    assert.match((await person.see(`${TICKETS}?view=board`)).text, /1 failed claim\b/);
    const refused = await person.post(page, { action: "claim" });
    assert.equal(refused.status, 409);
    assert.match(refused.text, /Ticket already claimed/);
    const forgiven = await person.post(page, { action: "forgive" });
    assert.match(forgiven.text, /Agents can claim this ticket again/);
    assert.doesNotMatch(forgiven.text, /without a result/);
    await answer(`POST /api/tickets/${uuid}/submit`, { as: caller, body: { summary: "Done" } });
    assert.match(
      (await person.see(page)).text,
      /caller claimed this ticket .*caller submitted the work/,
    );
  });
});

Deno.test("the list is filtered, searched and sorted by its address, and paged", async () => {
  await withWeb(async (web) => {
    await join(web, "read");
    const { answer, caller, person } = web;
    for (let number = 1; number <= 55; number++) {
      const priority = number === 7 ? "Immediate" : "Low";
      const status = number === 9 ? "Closed" : "Open";
      const body = { title: `Number ${String(number).padStart(2, "0")}`, priority, status };
      await answer("POST /api/tickets", { as: caller, body });
    }
    const first = await person.see(TICKETS);
    assert.match(first.text, /Open 54 Closed 1 All 55/);
    assert.match(first.text, /Number 55 .*Page 1 of 2/);
    assert.doesNotMatch(first.text, /Number 09/);
    assert.match((await person.see(`${TICKETS}?page=2`)).text, /Number 01/);
    assert.match((await person.see(`${TICKETS}?state=closed`)).text, /Number 09/);
    const urgent = await person.see(`${TICKETS}?sort=priority`);
    assert.ok(urgent.text.indexOf("Number 07") < urgent.text.indexOf("Number 55"));
    const found = await person.see(`${TICKETS}?search=number+3&priority=Low`);
    assert.match(found.text, /Number 33/);
    assert.doesNotMatch(found.text, /Number 44/);
    const nothing = await person.see(`${TICKETS}?search=nothing`);
    assert.match(nothing.text, /No ticket matches these filters/);
    assert.equal((await person.get(`${TICKETS}?sort=wrong`)).status, 400);
  });
});

Deno.test("the board has a column for each status, and moves a ticket", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const { answer, caller, person } = web;
    for (let number = 1; number <= 27; number++) {
      await answer("POST /api/tickets", { as: caller, body: { title: `T${number}` } });
    }
    const { tickets: [{ uuid }] } = await answer("GET /api/tickets");
    const board = `${TICKETS}?view=board`;
    const { text, html } = await person.see(board);
    assert.match(text, /Open 27 .* 2 more open tickets .*Closed 0/);
    assert.match(html, /<title>Tickets · Demo · muster</);
    const moved = await person.post(board, { action: "move", ticket: uuid, status: "Review" });
    assert.match(moved.text, /Open 26 .*Review 1 T27/);
    const long = "x".repeat(101);
    const refused = await person.post(board, { action: "move", ticket: uuid, status: long });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /at most 100 .*Review 1 T27/);
  });
});

Deno.test("a reader sees tickets without forms, and who is no member sees none", async () => {
  await withWeb(async (web) => {
    const { uuid } = await web.answer("POST /api/tickets", { body: { title: "Crash" } });
    const pages = [TICKETS, `${TICKETS}?view=board`, `${TICKETS}/${uuid}`, `${TICKETS}/new`];
    for (const page of pages) {
      assert.equal((await web.person.get(page)).status, 404, page);
      const { status, to } = await web.guest.get(page, { follow: false });
      assert.deepEqual(
        [status, to.startsWith("/login")],
        page.endsWith("new") ? [303, true] : [404, false],
      );
    }
    await join(web, "read");
    for (const page of [...pages.slice(0, 3), `${TICKETS}/${uuid}?view=edit`]) {
      const seen = await web.person.see(page);
      assert.match(seen.text, /Crash/, page);
      assert.doesNotMatch(seen.html, /<main.*method="post"/s, page);
    }
    assert.equal((await web.person.get(`${TICKETS}/new`)).status, 403);
    const sent = { action: "comment", comment: "Hello", mimetype: "text/plain" };
    assert.equal((await web.person.post(`${TICKETS}/${uuid}`, sent)).status, 403);
  });
});

Deno.test("hostile texts in tickets are shown as what they are", THOROUGH, async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    await web.answer("POST /api/tickets/fields", { body: { name: "customer", type: "text" } });
    for (const { aim, text } of HOSTILE_LINES.filter((_, index) => index % 3 === 0)) {
      const word = text.slice(0, 100);
      const body = { title: text, subsystem: word, status: word, fields: { customer: text } };
      const sent = await web.send("POST /api/tickets", { body });
      if (sent.status === 400) continue;
      const { uuid } = await sent.json();
      for (const page of [`${TICKETS}/${uuid}`, `${TICKETS}/${uuid}?view=edit`]) {
        const seen = await web.person.see(page);
        assertInert(seen, aim);
        assertShows(seen, text, aim);
      }
    }
    const { uuid } = await web.answer("POST /api/tickets", { body: { title: "Comments" } });
    for (const { text: comment } of HOSTILE_TEXTS) {
      for (const mimetype of ["text/x-markdown", "text/x-fossil-wiki"]) {
        const body = { comment, mimetype };
        await web.answer(`POST /api/tickets/${uuid}/comments`, { body });
      }
    }
    for (const page of [TICKETS, `${TICKETS}?view=board`, `${TICKETS}/${uuid}`]) {
      assertInert(await web.person.see(page), page);
    }
  });
});

Deno.test("pages name a ticket by its number, and a check-in's message leads to it", async () => {
  await withWeb(async (web) => {
    await join(web, "write");
    const { uuid } = await web.answer("POST /api/tickets", { body: { title: "Crash" } });
    assert.match((await web.person.see(TICKETS)).text, /Crash.*#1 /);
    assert.match((await web.person.see(`${TICKETS}/1`)).text, /Crash.*#1 /);
    assert.match((await web.person.see(`${TICKETS}?view=board`)).text, /Crash.*#1 /);
    const { repositories } = web.api.services.hosting;
    const checkin = await repositories.write(web.project, {
      caller: BY_OPERATOR,
      write: async (repository, stamp) => {
        const { uuid: parent } = await repository.resolveCheckin("trunk");
        const comment = "Mend #1\n\nNot #2, see #1.";
        const content = new TextEncoder().encode("mended\n");
        const changes = [{ kind: "write", path: "a.txt", content }] as const;
        return await repository.commit({ ...stamp, parent, comment, changes });
      },
    });
    const { html } = await web.person.see(`/projects/demo/checkin/${checkin}`);
    const link = `<a href="${TICKETS}/${uuid}">#1</a>`;
    assert.ok(html.includes(`<h1>Mend ${link}</h1>`));
    assert.ok(html.includes(`Not #2, see ${link}.`));
  });
});
