import assert from "node:assert/strict";
import { Repository, writeWiki } from "../../../services/engines/fossil/mod.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { type TestProject, withProject } from "../../support/projects.ts";

/** The events of changed fields, as actor and data without the project. */
async function changesOf({ api }: TestProject) {
  const { events } = await api.services.eventLog.read({
    after: 0,
    types: ["project.ticket_field"],
  });
  return events.map(({ actor, data: { name, type, action } }) => [actor, name, type, action]);
}

/** The status and the error of a response. */
async function refusal(response: Promise<Response>): Promise<readonly [number, string]> {
  const { status } = await response;
  return [status, (await (await response).json()).error];
}

Deno.test("an admin of the project defines ticket fields, which agents then set, read and filter by", async () => {
  await withProject(async (test) => {
    const { api, answer, send, caller, other } = test;
    await api.services.hosting.projects.setMember("demo", "caller", "admin", BY_OPERATOR);
    const { token } = await api.services.tokens.create({
      owner: "caller",
      name: "admin",
      scopes: ["read", "write", "admin"],
      project: null,
      expires_at: null,
    }, BY_OPERATOR);
    const admin = `Bearer ${token}`;
    const { uuid: old } = await answer("POST /api/tickets", { as: other, body: { title: "Old" } });

    const team = await send("POST /api/tickets/fields", { as: admin, body: { name: "Team" } });
    assert.equal(team.status, 201);
    assert.deepEqual(await team.json(), { name: "Team", type: "text" });
    const points = { name: "points", type: "number" };
    assert.deepEqual(await answer("POST /api/tickets/fields", { as: admin, body: points }), points);
    const { ticket, custom } = await answer("GET /api/tickets/fields", { as: other });
    assert.deepEqual(ticket.slice(-2), ["Team", "points"]);
    assert.deepEqual(custom, [{ name: "Team", type: "text" }, points]);

    const body = { title: "New", fields: { Team: "parser's; --", points: "3" } };
    const made = await answer("POST /api/tickets", { as: other, body });
    assert.deepEqual([made.fields.Team, made.fields.points], ["parser's; --", "3"]);
    const changed = await answer(`PATCH /api/tickets/${old}`, {
      as: caller,
      body: { fields: { Team: "core" }, comment: "Ours" },
    });
    assert.deepEqual([changed.fields.Team, changed.fields.points], ["core", ""]);
    const { changes } = await answer(`GET /api/tickets/${old}/changes`, { as: other });
    assert.equal(changes[0].fields[0].name, "Team");

    const titles = async (query: string) => {
      const { tickets, total } = await answer(`GET /api/tickets?${query}`, { as: other });
      assert.equal(total, tickets.length);
      return tickets.map(({ title }: { title: string }) => title);
    };
    assert.deepEqual(await titles("field=Team&value=core"), ["Old"]);
    assert.deepEqual(await titles(`field=Team&value=${encodeURIComponent("parser's; --")}`), [
      "New",
    ]);
    assert.deepEqual(await titles("field=points&value="), ["Old"]);
    assert.deepEqual(await titles("field=points&value=3.0&status=Open"), ["New"]);
    assert.equal((await send("GET /api/tickets?field=nothing&value=1")).status, 400);
    assert.equal((await send("GET /api/tickets?value=1")).status, 400);

    assert.equal((await send("DELETE /api/tickets/fields/Team", { as: admin })).status, 204);
    assert.equal("Team" in (await answer(`GET /api/tickets/${old}`)).fields, false);
    await answer("POST /api/tickets/fields", { as: admin, body: { name: "Team" } });
    assert.equal((await answer(`GET /api/tickets/${old}`)).fields.Team, "core");
    await answer("POST /api/tickets/fields", { as: admin, body: { name: "strikes" } });
    await answer("DELETE /api/tickets/fields/strikes", { as: admin });
    assert.deepEqual(await changesOf(test), [
      ["agent:caller", "Team", "text", "defined"],
      ["agent:caller", "points", "number", "defined"],
      ["agent:caller", "Team", null, "removed"],
      ["agent:caller", "Team", "text", "defined"],
      ["agent:caller", "strikes", "text", "defined"],
      ["agent:caller", "strikes", null, "removed"],
    ]);
  });
});

Deno.test("fields that cannot be defined, removed or set are refused by name, and nothing is told", async () => {
  await withProject(async (test) => {
    const { api, project, answer, send, caller } = test;
    await answer("POST /api/tickets/fields", { body: { name: "team" } });
    await answer("POST /api/tickets/fields", { body: { name: "points", type: "number" } });
    const told = await changesOf(test);
    // A later artifact of the same author is no sign that a refused change was made.
    using other = Repository.open(api.services.hosting.repositories.files.pathOf(project));
    writeWiki(other, { user: "operator", date: Date.now() + 60_000, title: "Page", text: "x" });

    const define = (body: unknown, as?: string) =>
      send("POST /api/tickets/fields", { body, ...(as === undefined ? {} : { as }) });
    for (
      const body of [
        {},
        { name: "" },
        { name: "1st" },
        { name: "a b" },
        { name: "a".repeat(65) },
        { name: "tkt_id" },
        { name: "Severity" },
        { name: "select" },
        { name: "order" },
        { name: 'x"; DROP TABLE ticket; --' },
        { name: "cost", type: "money" },
      ]
    ) {
      assert.equal((await define(body)).status, 400, JSON.stringify(body));
    }
    assert.deepEqual(await refusal(define({ name: "TEAM" })), [
      409,
      'Tickets already have a field "TEAM"',
    ]);
    assert.equal((await define({ name: "mine" }, caller)).status, 403);
    const drop = (name: string, as?: string) =>
      send(`DELETE /api/tickets/fields/${name}`, as === undefined ? {} : { as });
    assert.equal((await drop("nothing")).status, 404);
    assert.equal((await drop("status")).status, 400);
    assert.equal((await drop("team", caller)).status, 403);

    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "T" } });
    for (const request of ["POST /api/tickets", `PATCH /api/tickets/${uuid}`]) {
      const set = (fields: Record<string, string>) =>
        refusal(send(request, { as: caller, body: { title: "T", fields } }));
      assert.deepEqual(await set({ customer: "Ada" }), [
        400,
        'Tickets of this project have no field "customer"; an admin of the project can define ' +
        "it with POST /api/tickets/fields",
      ]);
      assert.deepEqual(await set({ tkt_uuid: "1" }), [
        400,
        'Tickets of this project have no field "tkt_uuid"; GET /api/tickets/fields lists those ' +
        "that they have",
      ]);
      assert.deepEqual(await set({ points: "many" }), [
        400,
        'The field "points" takes a number, such as "3" or "2.5"',
      ]);
    }
    assert.equal((await answer("GET /api/tickets")).total, 1);
    assert.deepEqual(await changesOf(test), told);
  });
});

Deno.test("of many requests that define one field at once, one succeeds and is told", async () => {
  await withProject(async (test) => {
    const requests = Array.from(
      { length: 8 },
      () => test.send("POST /api/tickets/fields", { body: { name: "team" } }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [201, ...Array(7).fill(409)]);
    assert.equal((await changesOf(test)).length, 1);
  });
});
