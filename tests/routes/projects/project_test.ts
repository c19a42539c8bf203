import assert from "node:assert/strict";
import { join } from "node:path";
import { EventStreams } from "../../../routes/event_streams.ts";
import { createProjectGroups } from "../../../routes/projects/mod.ts";
import { PROJECT_ROUTES } from "../../../routes/projects/table.ts";
import { RepositoryPool } from "../../../services/engines/fossil/front/mod.ts";
import { newUlid } from "../../../services/kernel/ulid.ts";
import { stampOf } from "../../../services/work/projects/intentions.ts";
import { withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

Deno.test("a project shows itself, its timeline, its branches and its tags", async () => {
  await withProject(async ({ answer, caller }) => {
    const project = await answer("GET /api/project", { as: caller });
    assert.equal(project.name, "Demo");
    assert.equal(project.slug, "demo");
    assert.equal(project.visibility, "private");
    assert.equal(project.star_count, 0);

    const timeline = await answer("GET /api/timeline?per_page=1000&page=0", { as: caller });
    assert.equal(timeline.checkins[0].comment, "initial empty check-in");
    const { total, page, per_page, total_pages } = timeline;
    assert.deepEqual({ total, page, per_page, total_pages }, {
      total: 1,
      page: 1,
      per_page: 100,
      total_pages: 1,
    });
    assert.deepEqual((await answer("GET /api/timeline?page=2")).checkins, []);

    const { branches } = await answer("GET /api/branches", { as: caller });
    assert.deepEqual(
      branches.map(({ name, status }: { name: string; status: string }) => [name, status]),
      [["trunk", "open"]],
    );
    assert.deepEqual((await answer("GET /api/tags", { as: caller })).tags, []);
  });
});

Deno.test("an error of the engine becomes a status: an unknown branch is 404", async () => {
  await withProject(async ({ send }) => {
    const response = await send("GET /api/timeline?branch=nowhere");
    assert.equal(response.status, 404);
    assert.match((await response.json()).error, /branch "nowhere"/);
  });
});

Deno.test("a caller who may not read a project does not learn that it exists", async () => {
  await withProject(async ({ send, outsider, api, caller }) => {
    for (const as of [null, outsider]) {
      assert.equal((await send("GET /api/project", { as })).status, 404);
      const unknown = await api.send({
        who: "guest",
        request: "GET /projects/nothing/fossil/api/project",
        headers: as === null ? {} : { authorization: as },
      });
      assert.equal(unknown.status, 404);
    }
    assert.equal((await send("GET /api/project", { as: "Bearer nonsense" })).status, 401);

    await api.answer("PATCH /v1/projects/demo", { visibility: "internal" });
    assert.equal((await send("GET /api/project", { as: outsider })).status, 200);
    assert.equal((await send("GET /api/project", { as: null })).status, 404);

    await api.answer("PATCH /v1/projects/demo", { visibility: "public" });
    assert.equal((await send("GET /api/project", { as: null })).status, 200);
    assert.equal((await send("PUT /api/star", { as: null })).status, 401);
    assert.equal((await send("PUT /api/star", { as: caller })).status, 204);
    assert.equal((await send("PUT /api/star", { as: caller })).status, 204);
    assert.equal((await (await send("GET /api/project", { as: null })).json()).star_count, 1);
  });
});

Deno.test("the index lists every endpoint of the repository API with its summary", async () => {
  await withProject(async ({ answer, api }) => {
    const { endpoints, base } = await answer("GET /api/");
    assert.equal(base, "/projects/demo/fossil");
    const names = endpoints.map((
      { method, path }: { method: string; path: string },
    ) => `${method} ${path}`);
    assert.deepEqual(names.sort(), Object.keys(PROJECT_ROUTES).sort());
    for (const { path, description } of endpoints) assert.notEqual(description, "", path);

    const document = await api.answer("GET /openapi.json") as {
      paths: Record<string, Record<string, { parameters: { name: string }[] }>>;
    };
    const timeline = document.paths["/projects/{slug}/fossil/api/timeline"]?.["get"];
    assert.deepEqual(
      timeline?.parameters.map(({ name }) => name),
      ["slug", "page", "per_page", "user", "before", "after", "branch", "path", "graph"],
    );
  });
});

Deno.test("each group of the repository API answers the routes that its table gives it", async () => {
  await withProject(({ api }) => {
    const groups = createProjectGroups(api.services, Object.create(EventStreams.prototype));
    for (const [name, group] of Object.entries(groups)) {
      const rows = Object.entries(PROJECT_ROUTES).filter(([, [owner]]) => owner === name);
      const handled = group.routes.filter(({ method }) => method !== "ALL")
        .map(({ method, path }) => [method, path === "/" ? "" : path] as const)
        .map(([method, path]) => `${method} ${path.replace(/:(\w+)(?:\{[^}]+\})?/g, "{$1}")}`);
      assert.deepEqual(
        [...new Set(handled)].sort(),
        rows.map(([endpoint]) => endpoint).sort(),
        name,
      );
    }
    return Promise.resolve();
  });
});

Deno.test("each artifact that another program writes becomes one event", async () => {
  await withProject(async ({ api, project, catchUp }) => {
    const { repositories } = api.services.hosting;
    await repositories.files.whileClosed(project, async () => {
      const pool = new RepositoryPool({ workers: 1 });
      const repository = await pool.open(repositories.files.pathOf(project));
      const [tip] = (await repository.timeline({})).checkins;
      const date = Date.parse("2026-11-20T13:00:00Z");
      await repository.commit({
        user: "ann",
        date,
        parent: tip?.uuid ?? null,
        comment: "Foreign work",
        changes: [{ kind: "write", path: "a.txt", content: new TextEncoder().encode("a\n") }],
      });
      await repository.changeWiki({ user: "ann", date, title: "Home", text: "Hello" });
      await pool.close();
    });
    await catchUp();
    await catchUp();
    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.*"] });
    const told = events.map(({ type, actor, data }) => [type, actor, data["project"]]);
    assert.deepEqual(told.slice(-2), [
      ["project.checkin", "fossil:ann", "demo"],
      ["project.wiki", "fossil:ann", "demo"],
    ]);
    assert.equal(events.filter(({ type }) => type === "project.checkin").length, 1);
  });
});

Deno.test("an intention is settled with its event, and after a crash too", async () => {
  await withProject(async ({ api, project, catchUp }) => {
    const { repositories } = api.services.hosting;
    const settled: string[] = [];
    const kind = repositories.intentions.register<{ page: string }>({
      name: "test.page",
      settle: ({ body, artifacts }) => {
        settled.push(`${body.page} ${artifacts.length}`);
        return {};
      },
      undo: ({ body }) => {
        settled.push(`undone ${body.page}`);
        return {};
      },
    });
    const change = (page: string, fails: boolean) =>
      repositories.write(project, {
        caller: BY_OPERATOR,
        intention: { kind, body: { page } },
        write: async (repository, stamp) => {
          if (fails) throw new Error("It fails");
          return await repository.changeWiki({ ...stamp, title: page, text: "Hello" });
        },
      });
    await change("Done", false);
    await assert.rejects(change("Lost", true), /It fails/);

    // What a process leaves that is killed after it wrote: the intention, and the artifact.
    const now = Date.parse("2026-11-20T14:00:00Z");
    const [id, never] = [newUlid(now), newUlid(now)];
    const stamp = stampOf(id, { user: "operator", date: now });
    const origin = { actor: "agent:ann", actorId: "1", address: null, cause: "request-9" };
    await repositories.intentions.record(
      [{ id, projectId: project.id, kind: kind.name, stamp, origin, body: { page: "Killed" } }],
      now,
    );
    await repositories.read(
      project,
      (repository) => repository.changeWiki({ ...stamp, title: "Killed", text: "Hello" }),
    );
    await repositories.intentions.record(
      [{
        id: never,
        projectId: project.id,
        kind: kind.name,
        stamp: stampOf(never, { user: "operator", date: now + 9 }),
        origin,
        body: { page: "Never" },
      }],
      now,
    );
    await catchUp();
    assert.deepEqual(settled, ["Done 1", "undone Lost", "Killed 1", "undone Never"]);

    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.wiki"] });
    assert.deepEqual(
      events.map(({ actor, cause, data }) => [actor, cause, data["name"]]),
      [["operator", "request-1", "Done"], ["agent:ann", "request-9", "Killed"]],
    );
    assert.equal(repositories.intentions.of(project.id).length, 0);
  });
});

Deno.test("a removed project's repository is moved aside, and its slug is free", async () => {
  await withProject(async ({ api, project, send }) => {
    const { files } = api.services.hosting.repositories;
    assert.equal((await api.send({ request: "DELETE /v1/projects/demo" })).status, 204);
    assert.equal((await send("GET /api/project")).status, 404);
    await Deno.stat(join(files.folder, "removed", `demo-${project.id}.fossil`));
    const again = await api.send({ request: "POST /v1/projects", body: { slug: "demo" } });
    assert.equal(again.status, 201);
    assert.equal((await send("GET /api/timeline")).status, 200);
  });
});
