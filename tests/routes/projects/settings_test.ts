/** What a project sets for itself, in place of the server. */
import assert from "node:assert/strict";
import { viewOf } from "../../../services/work/projects/mod.ts";
import { type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR, openServices } from "../../support/services.ts";
import { withFolder } from "../../support/temporary.ts";

const NONE = {
  claim_seconds: null,
  strikes: null,
  landing: { depth: null, timeout_seconds: null },
};

/** Makes a ticket and claims it; gives the ticket, and how many seconds the claim lasts. */
async function claimed({ answer, caller: as }: TestProject) {
  const { uuid } = await answer("POST /api/tickets", { as, body: { title: "Crash" } });
  const { claimed_at, expires_at } = await answer(`POST /api/tickets/${uuid}/claim`, { as });
  return { uuid, seconds: (Date.parse(expires_at) - Date.parse(claimed_at)) / 1000 };
}

Deno.test("a project's own settings take the place of the server's, until null removes them", async () => {
  await withProject(async (test) => {
    const { api, answer } = test;
    const shown = async () => {
      const { claim_seconds, strikes, landing } = await answer("GET /api/project");
      return { claim_seconds, strikes, landing };
    };
    assert.deepEqual(await shown(), NONE);
    assert.equal((await claimed(test)).seconds, 86_400);
    const landing = { depth: 2 };
    await api.answer("PATCH /v1/projects/demo", { claim_seconds: 90, strikes: 1, landing });
    const own = { claim_seconds: 90, strikes: 1, landing: { depth: 2, timeout_seconds: null } };
    assert.deepEqual(await shown(), own);
    const list = await api.answer("GET /v1/projects") as Record<string, unknown>[];
    assert.equal(list[0]?.["claim_seconds"], 90);
    assert.equal((await claimed(test)).seconds, 90);

    const removal = { claim_seconds: null, strikes: null, landing: { depth: null } };
    await api.answer("PATCH /v1/projects/demo", removal);
    assert.deepEqual(await shown(), NONE);
    assert.equal((await claimed(test)).seconds, 86_400);
    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.changed"] });
    assert.deepEqual(
      events.map(({ data }) => data["fields"]),
      Array(2).fill(["claim_seconds", "strikes", "landing"]),
    );
  });
});

Deno.test("a project decides after how many strikes a ticket waits for a person", async () => {
  await withProject(async (test) => {
    const { api, answer, caller: as } = test;
    const { uuid } = await claimed(test);
    await answer(`POST /api/tickets/${uuid}/release`, { as });
    assert.equal((await answer("GET /api/tickets/struck")).total, 0);
    await api.answer("PATCH /v1/projects/demo", { strikes: 1 });
    assert.equal((await answer("GET /api/tickets/struck")).tickets[0].uuid, uuid);
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 0);
    await api.answer("PATCH /v1/projects/demo", { strikes: null });
    assert.equal((await answer("GET /api/tickets/unclaimed")).total, 1);
  });
});

Deno.test("a project's own settings have the bounds of the server's", async () => {
  await withProject(async ({ api }) => {
    const request = "PATCH /v1/projects/demo";
    await api.expect([
      { request, body: { claim_seconds: 0 }, status: 400 },
      { request, body: { claim_seconds: 1.5 }, status: 400 },
      { request, body: { strikes: "3" }, status: 400 },
      { request, body: { landing: { depth: 21 } }, status: 400 },
      { request, body: { landing: null }, status: 400 },
    ]);
  });
});

Deno.test("a project's own settings are there after a restart", async () => {
  await withFolder(async (folder) => {
    const first = await openServices(folder);
    const { projects } = first.hosting;
    const project = { slug: "demo", name: "Demo", description: "" };
    await projects.create({ ...project, visibility: "private" }, BY_OPERATOR);
    const change = { strikes: 7, landing: { timeout_seconds: 5 } };
    await projects.change("demo", change, BY_OPERATOR);
    await first.close();
    const second = await openServices(folder);
    const { strikes, claim_seconds, landing } = viewOf(second.hosting.projects.require("demo"));
    await second.close();
    assert.deepEqual({ strikes, claim_seconds, landing }, {
      strikes: 7,
      claim_seconds: null,
      landing: { depth: null, timeout_seconds: 5 },
    });
  });
});
