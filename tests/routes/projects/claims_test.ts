import assert from "node:assert/strict";
import { z } from "zod";
import { BY_OPERATOR } from "../../support/services.ts";
import { type ProjectRequest, type TestProject, withProject } from "../../support/projects.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

async function aTicket({ answer, caller }: TestProject, title = "Crash"): Promise<string> {
  const body = { title, comment: "What happens" };
  return (await answer("POST /api/tickets", { as: caller, body })).uuid;
}

/** What an answer about a claim may have, beside what a test compares as a whole. */
const answerSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  agent_id: z.string(),
  generation: z.int(),
  expires_at: z.string(),
  message: z.string(),
  error: z.string(),
  claimed_by: z.string().nullable(),
}).partial();

/** The status and the body of an answer. */
async function result(test: TestProject, request: string, options: ProjectRequest) {
  const response = await test.send(request, options);
  const body = answerSchema.parse(await response.json());
  return { status: response.status, body };
}

async function claimEvents({ api }: TestProject) {
  const { events } = await api.services.eventLog.read({ after: 0, types: ["project.claim"] });
  return events.map(({ data }) => data);
}

Deno.test("a claim is 201, the same agent's again 200, and another's 409 with what to do next", async () => {
  await withProject(async (test) => {
    const { caller, other, api: { services: { clock } }, answer } = test;
    const ticket = await aTicket(test);
    const next = await aTicket(test, "Next");
    const start = clock.now();
    const path = `/api/tickets/${ticket}/claim`;
    const first = await result(test, `POST ${path}`, { as: caller, body: { agent_id: "caller" } });
    assert.equal(first.status, 201);
    const { id, ...claim } = first.body;
    assert.match(id ?? "", /^[0-9A-Z]{26}$/);
    assert.deepEqual(claim, {
      ticket,
      ticket_uuid: ticket,
      ticket_number: 1,
      agent: "caller",
      agent_id: "caller",
      status: "claimed",
      workspace: null,
      generation: 1,
      claimed_at: new Date(start).toISOString(),
      frozen_at: null,
      expires_at: new Date(start + DAY_MS).toISOString(),
    });

    clock.advance(1000);
    const again = await result(test, `POST ${path}`, { as: caller, body: {} });
    assert.equal(again.status, 200);
    assert.equal(again.body.message, "Already claimed by you");
    assert.equal(again.body.generation, 1);
    assert.equal(again.body.expires_at, new Date(start + DAY_MS + 1000).toISOString());

    const loser = await result(test, `POST ${path}`, { as: other, body: {} });
    assert.equal(loser.status, 409);
    assert.deepEqual(loser.body, {
      error: "Ticket already claimed",
      claimed_by: "caller",
      claimed_at: new Date(start).toISOString(),
      expires_at: new Date(start + DAY_MS + 1000).toISOString(),
      generation: 1,
      next: [next],
    });
    const { claims, total } = await answer("GET /api/claims", { as: other });
    assert.deepEqual([claims[0].ticket, claims[0].agent, total], [ticket, "caller", 1]);
    assert.equal((await answer("GET /api/claims?agent_id=other")).total, 0);
    assert.equal((await answer(`GET /api/tickets/${ticket}`)).claim.agent, "caller");
  });
});

Deno.test("64 parallel claims of one ticket, by prefixes of different lengths, give one 201", async () => {
  await withProject(async (test) => {
    const { send, caller, other, answer } = test;
    const ticket = await aTicket(test);
    const claims = Array.from({ length: 64 }, (_, index) => {
      const id = ticket.slice(0, 4 + index % 37);
      const spelt = index % 2 === 0 ? id : id.toUpperCase();
      const as = index % 4 < 2 ? caller : other;
      return send(`POST /api/tickets/${spelt}/claim`, { as, body: {} });
    });
    const statuses = (await Promise.all(claims)).map(({ status }) => status);
    const count = (status: number) => statuses.filter((each) => each === status).length;
    assert.deepEqual([count(201), count(200), count(409)], [1, 31, 32]);
    assert.equal((await answer("GET /api/claims")).total, 1);
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 0);
    assert.equal((await claimEvents(test)).length, 1);
  });
});

Deno.test("nobody claims, releases or submits in the name of another, except for an admin", async () => {
  await withProject(async (test) => {
    const { caller, other } = test;
    const ticket = await aTicket(test);
    const path = `/api/tickets/${ticket}`;
    const impostor = { as: other, body: { agent_id: "caller" } };
    assert.equal((await result(test, `POST ${path}/claim`, impostor)).status, 403);
    await result(test, `POST ${path}/claim`, { as: caller, body: {} });
    assert.equal((await result(test, `POST ${path}/release`, impostor)).status, 403);
    assert.equal((await result(test, `POST ${path}/submit`, impostor)).status, 403);
    const foreign = await result(test, `POST ${path}/release`, { as: other });
    assert.equal(foreign.status, 403);
    assert.equal(foreign.body.error, "Only the claiming agent can release this ticket");

    const broken = await result(test, `POST ${path}/release`, {});
    assert.equal(broken.status, 200);
    assert.deepEqual([broken.body.agent_id, broken.body.status], ["caller", "released"]);
    const events = await claimEvents(test);
    assert.deepEqual(
      events.map(({ agent, status, by, strikes }) => [agent, status, by, strikes]),
      [["caller", "claimed", null, 0], ["caller", "broken", "operator", 1]],
    );
    const operator = await result(test, `POST ${path}/claim`, { body: { agent_id: "other" } });
    assert.deepEqual([operator.status, operator.body.agent_id], [201, "other"]);
  });
});

Deno.test("a released ticket is unclaimed again, and a release without a claim is 404", async () => {
  await withProject(async (test) => {
    const { caller, other, answer } = test;
    const ticket = await aTicket(test);
    const path = `/api/tickets/${ticket.slice(0, 12)}`;
    const none = await result(test, `POST ${path}/release`, { as: caller });
    assert.deepEqual([none.status, none.body], [404, { error: "No active claim for this ticket" }]);
    await answer(`POST ${path}/claim`, { as: caller, body: {} });
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 0);
    const released = await answer(`POST ${path}/release`, { as: caller, body: {} });
    assert.deepEqual([released.ticket_uuid, released.status], [ticket, "released"]);
    assert.ok(released.released_at);
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 1);
    const second = await answer(`POST ${path}/claim`, { as: other, body: {} });
    assert.equal(second.generation, 2);
    const { previous_agent, previous_outcome } = (await claimEvents(test)).at(-1) ?? {};
    assert.deepEqual([previous_agent, previous_outcome], ["caller", "released"]);
  });
});

Deno.test("a submission comments on the ticket, leaves its description, and sets it to Review", async () => {
  await withProject(async (test) => {
    const { caller, other, answer, send } = test;
    const ticket = await aTicket(test);
    const path = `/api/tickets/${ticket}`;
    const early = await result(test, `POST ${path}/submit`, { as: caller, body: { summary: "x" } });
    assert.deepEqual([early.status, early.body.error], [404, "No active claim for this ticket"]);
    await answer(`POST ${path}/claim`, { as: caller, body: {} });
    const foreign = await result(test, `POST ${path}/submit`, { as: other, body: {} });
    assert.deepEqual(
      [foreign.status, foreign.body.error],
      [403, "Only the claiming agent can submit work for this ticket"],
    );
    const work = { agent_id: "caller", summary: "Done", files_changed: ["a.ts"] };
    const submitted = await answer(`POST ${path}/submit`, { as: caller, body: work });
    const { ticket_uuid, agent_id, status, summary, files_changed } = submitted;
    assert.deepEqual({ ticket_uuid, agent_id, status, summary, files_changed }, {
      ticket_uuid: ticket,
      agent_id: "caller",
      status: "submitted",
      summary: "Done",
      files_changed: ["a.ts"],
    });
    const read = await answer(`GET ${path}`);
    assert.deepEqual([read.body, read.status, read.claim], ["What happens", "Review", null]);
    assert.equal(read.comments[0].comment, "Done\n\nFiles changed:\n\n- `a.ts`");
    assert.equal(read.comments[0].mimetype, "text/x-markdown");
    assert.equal(read.comments[0].user, "caller");

    const twice = await result(test, `POST ${path}/submit`, { as: caller, body: work });
    assert.deepEqual([twice.status, twice.body.error], [409, "Claim is already submitted"]);
    const late = await result(test, `POST ${path}/claim`, { as: other, body: {} });
    assert.equal(late.status, 409);
    assert.match(late.body.error ?? "", /"caller" has done this ticket/);
    await send(`PATCH ${path}`, { as: other, body: { status: "Open" } });
    assert.equal((await send(`POST ${path}/claim`, { as: other, body: {} })).status, 201);
    const old = await result(test, `POST ${path}/submit`, { as: caller, body: work });
    assert.equal(old.status, 409);
    assert.deepEqual([old.body.claimed_by, old.body.generation], ["other", 2]);
  });
});

Deno.test("an expired lease frees the ticket, and its old holder is refused", async () => {
  await withProject(async (test) => {
    const { caller, other, answer, api: { services: { clock } } } = test;
    const ticket = await aTicket(test);
    const path = `/api/tickets/${ticket}`;
    await answer(`POST ${path}/claim`, { as: caller, body: {} });
    clock.advance(DAY_MS / 2);
    await answer(`POST ${path}/comments`, { as: caller, body: { comment: "At it" } });
    clock.advance(DAY_MS - 1);
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 0);
    clock.advance(1);
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 1);
    assert.equal((await answer("GET /api/claims")).total, 0);
    const late = await result(test, `POST ${path}/submit`, { as: caller, body: {} });
    assert.equal(late.status, 409);
    assert.deepEqual([late.body.claimed_by, late.body.generation], [null, 1]);
    const taken = await answer(`POST ${path}/claim`, { as: other, body: {} });
    assert.equal(taken.generation, 2);
    const old = await result(test, `POST ${path}/submit`, { as: caller, body: {} });
    assert.deepEqual([old.status, old.body.claimed_by, old.body.generation], [409, "other", 2]);
    assert.deepEqual(
      (await claimEvents(test)).map(({ agent, status }) => `${agent} ${status}`),
      ["caller claimed", "caller lapsed", "other claimed"],
    );
  });
});

Deno.test("an outdated generation is refused, also from the same agent, in the body and in the header", async () => {
  await withProject(async (test) => {
    const { caller, answer } = test;
    const ticket = await aTicket(test);
    const path = `/api/tickets/${ticket}`;
    await answer(`POST ${path}/claim`, { as: caller, body: {} });
    await answer(`POST ${path}/release`, { as: caller, body: { generation: 1 } });
    await answer(`POST ${path}/claim`, { as: caller, body: {} });
    const headers = { "x-claim-generation": "1" };
    for (const [verb, body] of [["claim", {}], ["release", {}], ["submit", {}]] as const) {
      for (
        const request of [
          { as: caller, body: { ...body, generation: 1 } },
          { as: caller, body, headers },
        ]
      ) {
        const refused = await result(test, `POST ${path}/${verb}`, request);
        assert.equal(refused.status, 409, verb);
        assert.equal(refused.body.generation, 2);
      }
    }
    const comment = { as: caller, body: { comment: "A" }, headers };
    assert.equal((await result(test, `POST ${path}/comments`, comment)).status, 409);
    const change = { as: caller, body: { title: "A" }, headers };
    assert.equal((await result(test, `PATCH ${path}`, change)).status, 409);
    const both = { as: caller, body: { generation: 2 }, headers };
    assert.equal((await result(test, `POST ${path}/claim`, both)).status, 400);
    const broken = { as: caller, body: {}, headers: { "x-claim-generation": "-1" } };
    assert.equal((await result(test, `POST ${path}/claim`, broken)).status, 400);
    assert.equal((await answer(`GET ${path}`)).comments.length, 0);
  });
});

Deno.test("after three claims without a result, a ticket waits for a person", async () => {
  await withProject(async (test) => {
    const { caller, answer, send, api: { services: { clock } } } = test;
    const ticket = await aTicket(test);
    const path = `/api/tickets/${ticket}`;
    for (let strike = 1; strike <= 3; strike++) {
      assert.equal((await answer("GET /api/tickets/unclaimed")).total, 1);
      await answer(`POST ${path}/claim`, { as: caller, body: {} });
      if (strike === 2) await answer(`POST ${path}/release`, { as: caller });
      else clock.advance(DAY_MS);
      await answer(`GET ${path}`);
    }
    await answer("POST /api/tickets", { as: caller, body: { title: "Another" } });
    const { tickets: [struck] } = await answer("GET /api/tickets/struck");
    assert.deepEqual([struck.uuid, struck.strikes], [ticket, 3]);
    const unclaimed = await answer("GET /api/tickets/unclaimed?status=");
    assert.deepEqual(
      unclaimed.tickets.map(({ title }: { title: string }) => title),
      ["Another"],
    );
    assert.equal((await send(`DELETE ${path}/strikes`, { as: caller })).status, 403);
    assert.equal((await send(`DELETE ${path}/strikes`)).status, 204);
    assert.equal((await answer("GET /api/tickets/struck")).total, 0);
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 2);
  });
});

Deno.test("revoking an agent ends its claims at once", async () => {
  await withProject(async (test) => {
    const { caller, other, answer, send, api: { services } } = test;
    const ticket = await aTicket(test);
    const path = `/api/tickets/${ticket}`;
    await answer(`POST ${path}/claim`, { as: caller, body: {} });
    await services.agents.revoke("caller", BY_OPERATOR);
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 1);
    assert.equal((await send(`POST ${path}/submit`, { as: caller, body: {} })).status, 401);
    const asRevoked = await result(test, `POST ${path}/submit`, { body: { agent_id: "caller" } });
    assert.equal(asRevoked.status, 409);
    assert.match(asRevoked.body.error ?? "", /is revoked/);
    const taken = await answer(`POST ${path}/claim`, { as: other, body: {} });
    assert.equal(taken.generation, 2);
    assert.deepEqual(
      (await claimEvents(test)).map(({ agent, status }) => `${agent} ${status}`),
      ["caller claimed", "caller revoked", "other claimed"],
    );
  });
});
