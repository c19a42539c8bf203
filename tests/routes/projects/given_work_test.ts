/** Tickets that are assigned, labeled, or wait for others. */
import assert from "node:assert/strict";
import { type TestProject, withProject } from "../../support/projects.ts";

/** Files a ticket; returns its whole id. */
async function file({ answer }: TestProject, body: Readonly<Record<string, unknown>>) {
  return (await answer("POST /api/tickets", { body })).uuid as string;
}

/** The numbers of the tickets of a list, in order. */
async function listed(
  { answer }: TestProject,
  path: string,
  as?: string,
): Promise<readonly number[]> {
  const { tickets } = await answer(`GET /api/tickets${path}`, as === undefined ? {} : { as });
  return tickets.map(({ number }: { number: number }) => number).toSorted();
}

async function refused(test: TestProject, request: string, body: unknown, as?: string) {
  const response = await test.send(request, { body, ...as === undefined ? {} : { as } });
  return [response.status, (await response.json()).error];
}

Deno.test("a blocked ticket is neither offered nor claimed until its last blocker is closed", () =>
  withProject(async (test) => {
    const { answer, send, caller } = test;
    const one = await file(test, { title: "One" });
    const two = await file(test, { title: "Two" });
    const made = await answer("POST /api/tickets", {
      body: { title: "Three", blocked_by: ["#1", 2, one.slice(0, 8)] },
    });
    assert.deepEqual([made.is_blocked, made.blocked_by], [true, [
      { uuid: one, number: 1, is_closed: false },
      { uuid: two, number: 2, is_closed: false },
    ]]);
    assert.deepEqual(await listed(test, "/unclaimed"), [1, 2]);
    assert.deepEqual(await listed(test, "?blocked=true"), [3]);
    assert.deepEqual(await listed(test, "?blocked=false"), [1, 2]);
    const refusal = await send("POST /api/tickets/3/claim", { as: caller });
    assert.equal(refusal.status, 409);
    const { error, blocked_by, next } = await refusal.json();
    assert.match(error, /^The ticket is blocked by #1, #2: /);
    assert.deepEqual([blocked_by, next], [made.blocked_by, [two, one]]);

    await answer("PATCH /api/tickets/1", { body: { status: "Closed" } });
    const half = await answer("GET /api/tickets/3");
    assert.deepEqual(half.blocked_by.map((it: { is_closed: boolean }) => it.is_closed), [
      true,
      false,
    ]);
    assert.equal(half.is_blocked, true);
    await answer("PATCH /api/tickets/2", { body: { status: "Closed" } });
    assert.deepEqual(await listed(test, "?blocked=true"), []);
    await answer("POST /api/tickets/3/claim", { as: caller });

    await answer("PATCH /api/tickets/2", { body: { status: "Open" } });
    assert.equal((await answer("GET /api/tickets/3")).is_blocked, true);
    assert.equal((await send("POST /api/tickets/3/claim", { as: caller })).status, 200);
    await answer("PATCH /api/tickets/3", { body: { blocked_by: [] } });
    assert.equal((await answer("GET /api/tickets/3")).is_blocked, false);
  }));

Deno.test("a circle is refused, also if two writers close it at once", () =>
  withProject(async (test) => {
    for (const title of ["One", "Two", "Three"]) await file(test, { title });
    const block = (ticket: number, ...blocked_by: readonly string[]) =>
      test.send(`PATCH /api/tickets/${ticket}`, { body: { blocked_by } });
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([block(1, "2"), block(2, "3"), block(3, "1")]);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 409]);
      for (const ticket of [1, 2, 3]) assert.equal((await block(ticket)).status, 200);
    }
    await block(1, "2");
    await block(2, "3");
    assert.deepEqual(
      (await refused(test, "PATCH /api/tickets/3", { blocked_by: ["1"] }))[0],
      409,
    );
    const [status, error] = await refused(test, "PATCH /api/tickets/3", { blocked_by: ["3"] });
    assert.deepEqual([status, error], [409, "A ticket cannot wait for itself"]);
    const missing = await refused(test, "PATCH /api/tickets/3", { blocked_by: ["4"] });
    assert.deepEqual(missing, [400, 'There is no ticket "4" for which another one could wait']);
    const many = Array.from({ length: 51 }, () => "1");
    assert.equal(
      (await refused(test, "POST /api/tickets", { title: "x", blocked_by: many }))[0],
      400,
    );
    assert.deepEqual(await listed(test, "?blocked=true"), [1, 2]);
  }));

Deno.test("a ticket is assigned to a member, and offered to nobody else", () =>
  withProject(async (test) => {
    const { answer, caller, other } = test;
    await file(test, { title: "Anybody's" });
    await file(test, { title: "Caller's", assignee: "CALLER" });
    const own = await answer("POST /api/tickets", {
      as: other,
      body: { title: "Own", assignee: "me" },
    });
    assert.equal(own.assignee, "other");
    assert.equal((await answer("GET /api/tickets/2")).assignee, "caller");
    assert.deepEqual(await listed(test, "/unclaimed", caller), [1, 2]);
    assert.deepEqual(await listed(test, "/unclaimed", other), [1, 3]);
    assert.deepEqual(await listed(test, "?assignee=me", caller), [2]);
    assert.deepEqual(await listed(test, "?assignee=me", other), [3]);
    assert.deepEqual(await listed(test, "?assignee="), [1]);
    assert.deepEqual(await listed(test, "?assignee=Other"), [3]);
    for (const assignee of ["stranger-1", "unheard-of"]) {
      const [status, error] = await refused(test, "PATCH /api/tickets/1", { assignee });
      assert.deepEqual([status, error], [
        400,
        `"${assignee}" is no member of "demo", and cannot be assigned its tickets`,
      ]);
    }
    await answer("PATCH /api/tickets/2", { body: { assignee: "nobody" } });
    assert.deepEqual(await listed(test, "/unclaimed", other), [1, 2, 3]);
    const [status] = await refused(test, "PATCH /api/tickets/1", { fields: { assignee: "x" } });
    assert.equal(status, 400);
  }));

Deno.test("labels are kept in order, and lists are filtered by them", () =>
  withProject(async (test) => {
    const { answer } = test;
    const made = await answer("POST /api/tickets", {
      body: { title: "One", labels: ["UI", "needs  review", "ui"] },
    });
    assert.deepEqual(made.labels, ["UI", "needs review"]);
    await file(test, { title: "Two", labels: ["ux"] });
    assert.deepEqual(await listed(test, "?label=ui"), [1]);
    assert.deepEqual(await listed(test, "?label=Needs+Review&assignee="), [1]);
    await answer("PATCH /api/tickets/1", { body: { labels: [] } });
    assert.deepEqual(await listed(test, "?label=ui"), []);
    for (const labels of [["a,b"], [""], ["x".repeat(51)], Array.from({ length: 21 }, String)]) {
      assert.equal((await refused(test, "PATCH /api/tickets/1", { labels }))[0], 400);
    }
    const { custom } = await answer("GET /api/tickets/fields");
    assert.deepEqual(custom, []);
  }));

/** What is in an agent's inbox once everything that happened is told: kinds and texts. */
async function told({ api }: TestProject, nick: string): Promise<readonly string[]> {
  await api.services.hosting.notifier.idle();
  const entries = await api.answer(`GET /v1/agents/${nick}/messages`) as Record<string, string>[];
  return entries.map(({ kind, text }) => `${kind}: ${text}`);
}

Deno.test("who is assigned is told, and who waits when the last blocker is closed", () =>
  withProject(async (test) => {
    const { answer, caller, other } = test;
    for (const title of ["Dig", "Pour"]) await file(test, { title });
    await answer("POST /api/tickets", {
      as: other,
      body: { title: "Build", assignee: "caller", blocked_by: ["1", "2"] },
    });
    await answer("PATCH /api/tickets/3", { as: caller, body: { assignee: "me" } });
    assert.deepEqual(await told(test, "caller"), [
      "ticket: other has assigned ticket #3 “Build” to you; it is blocked by #1, #2",
    ]);
    await answer("PATCH /api/tickets/1", { as: other, body: { status: "Closed" } });
    await answer("PATCH /api/tickets/2", { as: caller, body: { priority: "High" } });
    assert.equal((await told(test, "caller")).length, 1);
    assert.deepEqual(await told(test, "other"), []);
    await answer("PATCH /api/tickets/2", { as: caller, body: { status: "Closed" } });
    const freed = "ticket: Ticket #3 “Build” is no longer blocked: caller has closed ticket #2";
    assert.deepEqual((await told(test, "caller")).slice(1), [freed]);
    assert.deepEqual(await told(test, "other"), [freed]);

    const added = { comment: "Look", priority: "Low" };
    await answer("PATCH /api/tickets/2", { as: other, body: added });
    await answer("PATCH /api/tickets/3", { as: other, body: { blocked_by: [] } });
    await answer("POST /api/tickets/3/comments", { as: other, body: { comment: "Go" } });
    assert.deepEqual((await told(test, "caller")).slice(2), [
      "ticket: other has changed the tickets for which ticket #3 “Build” waits",
      "answer: other commented on ticket #3 “Build”: Go",
    ]);
  }));

Deno.test("events and claims have the number of the ticket", () =>
  withProject(async (test) => {
    const { api, answer, caller } = test;
    await file(test, { title: "One" });
    const ticket = await file(test, { title: "Two" });
    const claim = await answer("POST /api/tickets/2/claim", { as: caller });
    assert.deepEqual([claim.ticket, claim.ticket_number], [ticket, 2]);
    assert.equal((await answer("GET /api/claims")).claims[0].ticket_number, 2);
    await answer("PATCH /api/tickets/2", { as: caller, body: { status: "Closed" } });
    const { events } = await api.answer(
      "GET /v1/events?types=project.ticket,project.claim",
    ) as { events: { type: string; data: Record<string, unknown> }[] };
    assert.deepEqual(
      events.map((
        { type, data },
      ) => [type, data["ticket_number"], data["closes"] ?? data["status"]]),
      [
        ["project.ticket", 1, false],
        ["project.ticket", 2, false],
        ["project.claim", 2, "claimed"],
        ["project.ticket", 2, true],
        ["project.claim", 2, "closed"],
      ],
    );
  }));
