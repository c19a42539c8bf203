/** How tickets are closed, and what becomes of the claims on them. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Scratch } from "../../services/engines/fossil/support/fossil.ts";
import { judged } from "../../services/engines/fossil/support/judges.ts";
import { type TestProject, withProject } from "../../support/projects.ts";

/** A ticket that `caller` holds. */
async function claimed({ answer, caller }: TestProject, title: string): Promise<string> {
  const { uuid } = await answer("POST /api/tickets", { body: { title } });
  await answer(`POST /api/tickets/${uuid}/claim`, { as: caller });
  return uuid;
}

/** Opens and approves a review of a workspace of `caller` for a ticket; gives its number. */
async function approved(
  { answer, caller, other }: TestProject,
  name: string,
  ticket: string,
): Promise<number> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name, ticket } });
  await answer(`POST /api/workspaces/${name}/commit`, {
    as: caller,
    body: { message: name, changes: [{ path: `${name}.txt`, content: `${name}\n` }] },
  });
  const body = { title: `Add ${name}`, workspace: name };
  const { id } = await answer("POST /api/reviews/create", { as: caller, body });
  await answer(`POST /api/reviews/${id}/approve`, { as: other });
  return id;
}

/** A ticket's status, resolution, holder and strikes. */
async function stateOf({ answer }: TestProject, ticket: string) {
  const { status, resolution, claim, strikes } = await answer(`GET /api/tickets/${ticket}`);
  return { status, resolution, holder: claim?.agent ?? null, strikes };
}

/** How the claims of a ticket went on, by their events. */
async function claimEvents({ api, project }: TestProject, ticket: string): Promise<string[]> {
  const { events } = await api.services.eventLog.read({ after: 0, types: ["project.claim"] });
  return events
    .filter(({ data }) => data["project_id"] === project.id && data["ticket"] === ticket)
    .map(({ data }) => String(data["status"]));
}

/** Who made and changed a ticket, by the events. */
async function changersOf({ api }: TestProject, ticket: string): Promise<unknown[]> {
  const { events } = await api.services.eventLog.read({ after: 0, types: ["project.ticket"] });
  return events.filter(({ data }) => data["ticket"] === ticket).map(({ data }) => data["user"]);
}

const CLOSED = { status: "Closed", resolution: "Fixed", holder: null, strikes: 0 };

Deno.test("merging a review closes its ticket and ends the claim with a result", async () => {
  await withProject(async (test) => {
    const { answer, caller, project, api } = test;
    const ticket = await claimed(test, "By review");
    const review = await approved(test, "one", ticket);
    await answer(`POST /api/reviews/${review}/merge`, { as: caller });
    assert.deepEqual(await stateOf(test, ticket), CLOSED);
    assert.deepEqual(await claimEvents(test, ticket), ["claimed", "merged"]);
    assert.deepEqual(await changersOf(test, ticket), ["operator", "caller"]);
    assert.equal(api.services.hosting.repositories.intentions.of(project.id).length, 0);
  });
});

Deno.test("merging a workspace without a review closes its ticket, too", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    const ticket = await claimed(test, "By workspace");
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "two", ticket } });
    const body = { message: "Two", changes: [{ path: "two.txt", content: "2\n" }] };
    await answer("POST /api/workspaces/two/commit", { as: caller, body });
    await answer("POST /api/workspaces/two/merge", { as: caller });
    assert.deepEqual(await stateOf(test, ticket), CLOSED);
    assert.deepEqual(await claimEvents(test, ticket), ["claimed", "merged"]);
  });
});

Deno.test("a review without a workspace closes the ticket that it resolves", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    for (const alreadyClosed of [false, true]) {
      const ticket = await claimed(test, `By diff ${alreadyClosed}`);
      const body = { title: "Diff", diff: "--- a\n+++ b\n", ticket_uuid: ticket };
      const { id } = await answer("POST /api/reviews/create", { as: caller, body });
      await answer(`POST /api/reviews/${id}/approve`, { as: other });
      const closing = { status: "Closed", resolution: "Fixed" };
      if (alreadyClosed) await answer(`PATCH /api/tickets/${ticket}`, { body: closing });
      await answer(`POST /api/reviews/${id}/merge`, { as: caller });
      assert.equal((await answer(`GET /api/reviews/${id}`)).status, "merged");
      assert.deepEqual(await stateOf(test, ticket), CLOSED);
      assert.equal((await claimEvents(test, ticket)).length, 2);
      const changers = ["operator", alreadyClosed ? "operator" : "caller"];
      assert.deepEqual(await changersOf(test, ticket), changers);
    }
  });
});

Deno.test("landing a review closes its ticket and ends the claim", async () => {
  await withProject(async (test) => {
    const { answer, caller, api } = test;
    const ticket = await claimed(test, "By landing");
    const review = await approved(test, "four", ticket);
    const { promise: landed, resolve, reject } = Promise.withResolvers<void>();
    const look = async () => {
      if ((await answer(`GET /api/reviews/${review}`)).status === "merged") resolve();
    };
    const stop = api.services.database.onAppended(() => void look().catch(reject));
    await answer(`POST /api/reviews/${review}/land`, { as: caller });
    await look();
    await landed;
    stop();
    assert.deepEqual(await stateOf(test, ticket), CLOSED);
    assert.deepEqual(await claimEvents(test, ticket), ["claimed", "merged"]);
  });
});

Deno.test("a merge that is refused leaves the ticket open", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const ticket = await claimed(test, "In vain");
    const review = await approved(test, "five", ticket);
    await answer("POST /api/workspaces/create", { as: other, body: { name: "rival" } });
    const body = { message: "Rival", changes: [{ path: "five.txt", content: "rival\n" }] };
    await answer("POST /api/workspaces/rival/commit", { as: other, body });
    await answer("POST /api/workspaces/rival/merge", { as: other });
    assert.equal((await send(`POST /api/reviews/${review}/merge`, { as: caller })).status, 409);
    const { status, holder } = await stateOf(test, ticket);
    assert.deepEqual([status, holder], ["Open", "caller"]);
  });
});

Deno.test("closing a ticket by hand ends its claim with a result", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const body = { status: "Closed", resolution: "Fixed" };
    for (const as of [caller, other, undefined]) {
      const ticket = await claimed(test, "By hand");
      await answer(`PATCH /api/tickets/${ticket}`, { ...(as === undefined ? {} : { as }), body });
      assert.deepEqual(await stateOf(test, ticket), CLOSED);
      assert.deepEqual(await claimEvents(test, ticket), ["claimed", "closed"]);
      const release = await send(`POST /api/tickets/${ticket}/release`, { as: caller });
      assert.equal(release.status, 404);
    }
    const ticket = await claimed(test, "Fixed is not closed");
    await answer(`PATCH /api/tickets/${ticket}`, { body: { status: "Fixed" } });
    assert.equal((await stateOf(test, ticket)).holder, "caller");
  });
});

judged("a ticket that the fossil program closes loses its claim with a result", async (fossil) => {
  using scratch = new Scratch(fossil);
  await withProject(async (test) => {
    const { api, project, catchUp } = test;
    const ticket = await claimed(test, "By the program");
    const file = api.services.hosting.repositories.files.pathOf(project);
    scratch.fossil(["user", "new", "ann", "Ann", "secret", "-R", file]);
    scratch.fossil(["ticket", "set", ticket, "status", "Closed", "-R", file, "--user", "ann"]);
    await catchUp();
    const { status, holder, strikes } = await stateOf(test, ticket);
    assert.deepEqual([status, holder, strikes], ["Closed", null, 0]);
    assert.deepEqual(await claimEvents(test, ticket), ["claimed", "closed"]);
  });
});

Deno.test("a merge closes a ticket with the repository's own words", async () => {
  await withProject(async (test) => {
    const { answer, caller, api, project } = test;
    const file = api.services.hosting.repositories.files.pathOf(project);
    {
      using database = new DatabaseSync(file);
      database.exec(`REPLACE INTO config(name,value,mtime) VALUES
        ('ticket-closed-expr', 'status IN (''Done'',''Dropped'')', 0),
        ('ticket-common', 'set resolution_choices {' || char(10) || ' Open' || char(10) ||
          ' Shipped' || char(10) || '}', 0)`);
    }
    const ticket = await claimed(test, "Other words");
    const review = await approved(test, "seven", ticket);
    await answer(`POST /api/reviews/${review}/merge`, { as: caller });
    assert.deepEqual(await stateOf(test, ticket), {
      ...CLOSED,
      status: "Done",
      resolution: "Shipped",
    });
    const dropped = await claimed(test, "Dropped");
    await answer(`PATCH /api/tickets/${dropped}`, { body: { status: "Dropped" } });
    assert.deepEqual(await claimEvents(test, dropped), ["claimed", "closed"]);
  });
});
