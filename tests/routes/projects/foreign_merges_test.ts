/** Workspaces whose branches the `fossil` program merges or closes. */
import assert from "node:assert/strict";
import { statement } from "../../../services/engines/database/mod.ts";
import { TicketNotes } from "../../../services/oversight/notifications/mod.ts";
import { Scratch } from "../../services/engines/fossil/support/fossil.ts";
import { judged } from "../../services/engines/fossil/support/judges.ts";
import { type TestProject, withProject } from "../../support/projects.ts";

/** Begins a workspace of `caller` with one file, and opens its review. */
async function aReview({ answer, caller }: TestProject, name: string): Promise<number> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name } });
  await answer(`POST /api/workspaces/${name}/commit`, {
    as: caller,
    body: { message: name, changes: [{ path: `${name}.txt`, content: `${name}\n` }] },
  });
  const body = { title: name, workspace: name };
  return (await answer("POST /api/reviews/create", { as: caller, body })).id;
}

/** A checkout of trunk by the user `ann`. */
function checkout(scratch: Scratch, { api, project }: TestProject): string {
  const file = api.services.hosting.repositories.files.pathOf(project);
  scratch.fossil(["user", "new", "ann", "Ann", "secret", "-R", file]);
  scratch.fossil(["user", "default", "ann", "-R", file]);
  const folder = scratch.path("checkout");
  Deno.mkdirSync(folder);
  scratch.fossil(["open", file, "trunk"], folder);
  scratch.fossil(["user", "default", "ann"], folder);
  return folder;
}

/** The states of a workspace's events, and those of its review. */
async function told({ api }: TestProject, name: string) {
  const types = ["project.workspace", "project.review"];
  const { events } = await api.services.eventLog.read({ after: 0, types });
  return events.filter(({ data }) => (data["name"] ?? data["workspace"]) === name)
    .map(({ type, data, actor }) => [type.slice(8), data["status"], actor]).slice(-2);
}

judged(
  "a workspace that the fossil program merges is merged here, and so is its review",
  async (fossil) => {
    using scratch = new Scratch(fossil);
    await withProject(async (test) => {
      const { answer, send, caller, catchUp } = test;
      const [one, two] = [await aReview(test, "one"), await aReview(test, "two")];
      const { uuid: ticket } = await answer("POST /api/tickets", { body: { title: "Work" } });
      await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
      const three = { name: "three", ticket };
      await answer("POST /api/workspaces/create", { as: caller, body: three });
      await answer("POST /api/workspaces/three/commit", {
        as: caller,
        body: { message: "3", changes: [{ path: "3.txt", content: "3\n" }] },
      });
      const folder = checkout(scratch, test);
      for (
        const [name, ...options] of [["one", "--integrate"], ["two"], ["three", "--integrate"]]
      ) {
        scratch.fossil(["merge", `workspace/${name}`, ...options], folder);
        const words = ["commit", "-m", `Merge ${name}`, "--no-warnings", "--user-override", "ann"];
        scratch.fossil(words, folder);
      }
      await catchUp();
      const { checkins } = await answer("GET /api/timeline?branch=trunk");
      for (const [index, name] of ["three", "two", "one"].entries()) {
        const workspace = await answer(`GET /api/workspaces/${name}`);
        assert.equal(workspace.status, "merged", name);
        assert.equal(workspace.merged_as, checkins[index].uuid, name);
        assert.equal(workspace.target_branch, "trunk", name);
        assert.equal(workspace.files.length, 1, name);
      }
      for (const review of [one, two]) {
        const { status, merged_as } = await answer(`GET /api/reviews/${review}`);
        assert.equal(status, "merged");
        assert.ok(checkins.some(({ uuid }: { uuid: string }) => uuid === merged_as));
      }
      assert.deepEqual(await told(test, "one"), [
        ["workspace", "merged", "fossil:ann"],
        ["review", "merged", "fossil:ann"],
      ]);
      await test.api.services.hosting.ticketNotes.idle();
      const closed = await answer(`GET /api/tickets/${ticket}`);
      assert.deepEqual([closed.claim, closed.status, closed.resolution], [null, "Closed", "Fixed"]);
      const late = { message: "Late", changes: [{ path: "late.txt", content: "x" }] };
      const commit = await send("POST /api/workspaces/one/commit", { as: caller, body: late });
      assert.equal(commit.status, 409);
      await catchUp();
      assert.equal((await told(test, "one")).length, 2);
    });
  },
);

/** Lets the `fossil` program merge a workspace for a ticket; gives the ticket. */
async function mergedElsewhere(
  { answer, caller, catchUp }: TestProject,
  name: string,
  merge: (branch: string) => void,
): Promise<string> {
  const { uuid: ticket } = await answer("POST /api/tickets", { body: { title: name } });
  await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
  await answer("POST /api/workspaces/create", { as: caller, body: { name, ticket } });
  const changes = [{ path: `${name}.txt`, content: `${name}\n` }];
  const body = { message: name, changes };
  await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
  merge(`workspace/${name}`);
  await catchUp();
  return ticket;
}

/** Runs the service that closes tickets, as the next process would, until it has closed one. */
async function closeAgain({ api: { services }, answer }: TestProject, ticket: string) {
  const { tickets, projects, repositories, reviews: { store: reviews } } = services.hosting;
  const { database, eventLog, log, clock: scheduler } = services;
  const hosting = { tickets, projects, repositories, reviews };
  const next = new TicketNotes({ ...hosting, database, eventLog, log, scheduler });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = async () => {
    if ((await answer(`GET /api/tickets/${ticket}`)).status === "Closed") resolve();
  };
  const stop = database.onAppended(() => void look().catch(reject));
  try {
    await next.start();
    await promise;
  } finally {
    stop();
    await next.close();
  }
}

judged(
  "the ticket of work that the fossil program merges is closed once, also after a restart",
  async (fossil) => {
    using scratch = new Scratch(fossil);
    await withProject(async (test) => {
      const { answer, api: { services } } = test;
      const { database, eventLog } = services;
      await services.hosting.ticketNotes.close();
      const folder = checkout(scratch, test);
      const merge = (branch: string) => {
        scratch.fossil(["merge", branch], folder);
        const words = ["commit", "-m", "Merge", "--no-warnings", "--user-override", "ann"];
        scratch.fossil(words, folder);
      };
      const one = await mergedElsewhere(test, "one", merge);
      assert.equal((await answer(`GET /api/tickets/${one}`)).status, "Open");
      await closeAgain(test, one);

      // A process that was killed before it stored its place sees the same event again.
      await answer(`PATCH /api/tickets/${one}`, { body: { status: "Open" } });
      const back = database.tables.updateTable("event_cursors").set({ seq: 0 })
        .where("name", "=", "ticket_notes");
      await database.commit({ statements: [statement(back)] });
      await closeAgain(test, await mergedElsewhere(test, "two", merge));
      assert.equal((await answer(`GET /api/tickets/${one}`)).status, "Open");
      const { events } = await eventLog.read({ after: 0, types: ["project.ticket"] });
      const changers = events.filter(({ data }) => data["ticket"] === one)
        .map(({ data }) => data["user"]);
      assert.deepEqual(changers, ["operator", "muster", "operator"]);
    });
  },
);

judged(
  "a workspace that the fossil program closes is abandoned here, and can be restored",
  async (fossil) => {
    using scratch = new Scratch(fossil);
    await withProject(async (test) => {
      const { answer, caller, catchUp } = test;
      const review = await aReview(test, "dropped");
      await aReview(test, "kept");
      const folder = checkout(scratch, test);
      scratch.fossil(["branch", "close", "workspace/dropped"], folder);
      await catchUp();
      assert.equal((await answer("GET /api/workspaces/dropped")).status, "abandoned");
      assert.equal((await answer("GET /api/workspaces/kept")).status, "active");
      assert.equal((await answer(`GET /api/reviews/${review}`)).status, "closed");
      await answer("POST /api/workspaces/dropped/restore", { as: caller });
      assert.equal((await answer("GET /api/workspaces/dropped")).status, "active");
    });
  },
);

judged(
  "a push that continues, updates or half merges a workspace does not end it",
  async (fossil) => {
    using scratch = new Scratch(fossil);
    await withProject(async (test) => {
      const { answer, catchUp } = test;
      const review = await aReview(test, "going");
      await aReview(test, "other");
      const folder = checkout(scratch, test);
      const commit = ["commit", "--no-warnings", "--user-override", "ann", "-m"];
      scratch.fossil(["update", "workspace/going"], folder);
      scratch.fossil(["merge", "workspace/other"], folder);
      scratch.fossil([...commit, "Take the other one in"], folder);
      await catchUp();
      assert.equal((await answer("GET /api/workspaces/going")).status, "active");
      assert.equal((await answer("GET /api/workspaces/other")).status, "active");
      assert.equal((await answer(`GET /api/reviews/${review}`)).round, 2);
    });
  },
);
