/** Who owns a workspace, and how many. */
import assert from "node:assert/strict";
import { withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

Deno.test("an owner that has lost its ticket's claim cannot commit, and the new holder takes the workspace over", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "Crash" } });
    const early = await send("POST /api/workspaces/create", {
      as: caller,
      body: { name: "early", ticket: uuid },
    });
    assert.equal(early.status, 409);
    const claim = await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
    const made = await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "crash", ticket: uuid.slice(0, 8) },
    });
    assert.equal(made.ticket, uuid);
    assert.equal(made.generation, claim.generation);
    const commit = (as: string, more = {}) =>
      send("POST /api/workspaces/crash/commit", {
        as,
        body: { message: "Work", changes: [{ path: "a", content: crypto.randomUUID() }], ...more },
      });
    assert.equal((await commit(caller)).status, 200);
    assert.equal((await commit(caller, { generation: claim.generation + 1 })).status, 409);

    await answer(`POST /api/tickets/${uuid}/release`, { as: caller, body: {} });
    await answer(`POST /api/tickets/${uuid}/claim`, { as: other, body: {} });
    const refused = await commit(caller);
    assert.equal(refused.status, 409);
    const { claimed_by, generation } = await refused.json();
    assert.deepEqual([claimed_by, generation], ["other", claim.generation + 1]);
    const merge = await send("POST /api/workspaces/crash/merge", { as: caller });
    assert.equal(merge.status, 409);

    const taken = await answer("POST /api/workspaces/crash/takeover", { as: other });
    assert.equal(taken.agent_id, "other");
    assert.equal((await commit(caller)).status, 403);
    assert.equal((await commit(other)).status, 200);
    await answer("POST /api/workspaces/crash/merge", { as: other });
  });
});

Deno.test("every entry point refuses an outdated generation, and a holder whose lease has run out", async () => {
  await withProject(async ({ answer, send, caller, other, api: { services: { clock } } }) => {
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "Crash" } });
    const ticket = `/api/tickets/${uuid}`;
    await answer(`POST ${ticket}/claim`, { as: caller, body: {} });
    await answer(`POST ${ticket}/release`, { as: caller, body: {} });
    await answer(`POST ${ticket}/claim`, { as: caller, body: {} });
    await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "crash", ticket: uuid },
    });
    const body = { message: "Work", changes: [{ path: "a", content: "a" }] };
    await answer("POST /api/workspaces/crash/commit", { as: caller, body });
    const asked = { title: "Crash", workspace: "crash" };
    const { id } = await answer("POST /api/reviews/create", { as: caller, body: asked });
    await answer(`POST /api/reviews/${id}/approve`, { as: other });
    const writes: [request: string, body: unknown][] = [
      ["POST /api/workspaces/crash/commit", body],
      ["POST /api/workspaces/crash/update", {}],
      ["POST /api/workspaces/crash/merge", {}],
      ["POST /api/workspaces/crash/takeover", {}],
      ["DELETE /api/workspaces/crash/abandon", {}],
      ["POST /api/workspaces/create", { name: "second", ticket: uuid }],
      ["POST /api/reviews/create", asked],
      [`POST /api/reviews/${id}/merge`, {}],
      [`POST /api/reviews/${id}/land`, {}],
      [`POST /api/reviews/${id}/close`, {}],
      [`POST ${ticket}/submit`, { workspace: "crash" }],
    ];
    const refuseAll = async (headers: Record<string, string>) => {
      for (const [request, body] of writes) {
        const response = await send(request, { as: caller, body, headers });
        const { generation } = await response.json();
        assert.deepEqual([response.status, generation], [409, 2], request);
      }
      assert.equal((await answer("GET /api/workspaces/crash")).status, "active");
      assert.equal((await answer(`GET /api/reviews/${id}`)).status, "approved");
    };
    await refuseAll({ "x-claim-generation": "1" });
    clock.advance(24 * 60 * 60 * 1000);
    await refuseAll({});

    await answer(`POST ${ticket}/claim`, { as: caller, body: {} });
    await answer(`POST ${ticket}/release`, { as: caller, body: {} });
    const freed = await answer("DELETE /api/workspaces/crash/abandon", { as: caller });
    assert.equal(freed.status, "abandoned");
  });
});

Deno.test("an agent's limit of workspaces holds for parallel creations in two projects", async () => {
  await withProject(async ({ api, caller }) => {
    const { projects } = api.services.hosting;
    const second = { slug: "second", name: "2", description: "", visibility: "private" } as const;
    await projects.create(second, BY_OPERATOR);
    await projects.setMember("second", "caller", "write", BY_OPERATOR);
    const statusOf = async (request: string, body: unknown = {}): Promise<number> => {
      const headers = { authorization: caller };
      const response = await api.send({ who: "guest", request, headers, body });
      await response.body?.cancel();
      return response.status;
    };
    const base = (slug: string) => `/projects/${slug}/fossil/api/workspaces`;
    const create = (slug: string, name: string) => statusOf(`POST ${base(slug)}/create`, { name });
    const slugOf = (index: number) => index % 2 === 0 ? "demo" : "second";
    const names = Array.from({ length: 16 }, (_, index) => `w${index}`);
    const statuses = await Promise.all(
      names.map((name, index) => create(slugOf(index), name)),
    );
    assert.equal(statuses.filter((status) => status === 201).length, 5);
    assert.equal(statuses.filter((status) => status === 429).length, 11);

    const index = statuses.indexOf(201);
    const made = `${base(slugOf(index))}/${names[index]}`;
    assert.equal(await statusOf(`DELETE ${made}/abandon`), 200);
    const races = await Promise.all([
      statusOf(`POST ${made}/restore`),
      create(slugOf(index + 1), "another"),
    ]);
    assert.equal(races.filter((status) => status === 429).length, 1);
  }, { config: { projects: { workspaces_per_agent: 5 } } });
});
