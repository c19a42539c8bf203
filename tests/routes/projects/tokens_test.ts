import assert from "node:assert/strict";
import { projectToken, withProject } from "../../support/projects.ts";

Deno.test("a project's token opens that project by its scopes, and nothing else", async () => {
  await withProject(async ({ api, send, answer }) => {
    await api.answer("POST /v1/projects", { slug: "other" });
    const { checkins } = await answer("GET /api/timeline");
    const report = { checkin: checkins[0].uuid, context: "ci", state: "success" };
    const table: [scope: string, read: number, status: number, write: number, admin: number][] = [
      ["read", 200, 403, 403, 403],
      ["status:write", 403, 201, 403, 403],
      ["write", 200, 200, 200, 403],
      ["admin", 200, 200, 200, 200],
    ];
    for (const [scope, read, status, , admin] of table) {
      const [as] = await projectToken(api, scope);
      assert.equal((await send("GET /api/timeline", { as })).status, read, scope);
      assert.equal((await send("POST /api/status", { as, body: report })).status, status, scope);
      assert.equal((await send("PUT /api/protection", { as, body: [] })).status, admin, scope);
      const headers = { authorization: as };
      for (
        const [request, expected] of [
          ["GET /projects/other/fossil/api/timeline", 404],
          ["GET /v1/projects", 403],
          ["GET /v1/projects/demo", 403],
          ["GET /v1/agents", 403],
          ["GET /v1/tokens", 403],
          ["GET /v1/status", 403],
          ["POST /v1/llm/complete", 403],
        ] as const
      ) {
        const body = request.startsWith("POST") ? { body: {} } : {};
        const { status } = await api.send({ who: "guest", request, headers, ...body });
        assert.equal(status, expected, `${scope}: ${request}`);
      }
    }
    const status = await answer(`GET /api/status?checkin=${report.checkin}`);
    assert.equal(status.checks[0].reporter, "token:ci");
  });
});

Deno.test("a project's token is listed with its project, and ends by itself or with the project", async () => {
  await withProject(async ({ api, send }) => {
    const [one, id] = await projectToken(api, "read");
    const [other] = await projectToken(api, "write");
    const listed = await api.answer("GET /v1/tokens") as Record<string, unknown>[];
    const shown = listed.filter(({ project }) => project === "demo");
    assert.deepEqual(
      shown.map(({ owner, name, scopes }) => `${owner} ${name} ${scopes}`).sort(),
      ["null ci read", "null ci write"],
    );
    assert.equal((await api.send({ request: `DELETE /v1/tokens/${id}` })).status, 204);
    assert.equal((await send("GET /api/timeline", { as: one })).status, 401);
    assert.equal((await send("GET /api/timeline", { as: other })).status, 200);
    assert.equal((await api.send({ request: "DELETE /v1/projects/demo" })).status, 204);
    assert.equal((await send("GET /api/timeline", { as: other })).status, 401);
    await api.expect([
      {
        request: "POST /v1/tokens",
        body: { project: "demo", name: "x", scopes: ["read"] },
        status: 404,
      },
      { request: "POST /v1/tokens", body: { name: "x", scopes: ["read"] }, status: 400 },
      {
        request: "POST /v1/tokens",
        body: { owner: "caller", name: "x", scopes: ["status:write"] },
        status: 400,
      },
    ]);
  });
});

Deno.test("a caller sees the projects that it may read, and no others", async () => {
  await withProject(async ({ api, caller, outsider }) => {
    await api.answer("POST /v1/projects", { slug: "open", visibility: "public" });
    await api.answer("POST /v1/projects", { slug: "house", visibility: "internal" });
    await api.answer("POST /v1/projects", { slug: "secret" });
    const list = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const response = await api.send({ who: "guest", request: "GET /projects", headers });
      assert.equal(response.status, 200);
      const { projects, total } = await response.json();
      assert.equal(total, projects.length);
      return projects.map((
        { slug, rights, base }: { slug: string; rights: string[]; base: string },
      ) => {
        assert.equal(base, `/projects/${slug}/fossil`);
        return `${slug}: ${rights.join(" ")}`;
      });
    };
    assert.deepEqual(await list(), ["open: read"]);
    assert.deepEqual(await list(outsider), ["house: read", "open: read"]);
    assert.deepEqual(await list(caller), ["demo: read write status", "house: read", "open: read"]);
    const [token] = await projectToken(api, "status:write");
    assert.deepEqual(await list(token), ["demo: status", "open: read"]);
    const all = await api.answer("GET /projects?per_page=2") as { total: number };
    assert.equal(all.total, 4);
    const bad = await api.send({
      who: "guest",
      request: "GET /projects",
      headers: { authorization: "Bearer nonsense" },
    });
    assert.equal(bad.status, 401);
  });
});

Deno.test("a guest who tries to change something is asked for a credential, whatever the project", async () => {
  await withProject(async ({ api, send }) => {
    for (const visibility of ["private", "internal", "public"]) {
      await api.answer("PATCH /v1/projects/demo", { visibility });
      for (
        const request of ["POST /api/status", "PUT /api/protection", "PUT /api/star"]
      ) {
        const response = await send(request, { as: null, body: {} });
        assert.equal(response.status, 401, `${visibility}: ${request}`);
        const unknown = await api.send({
          who: "guest",
          request: request.replace(" /", " /projects/nothing/fossil/"),
          body: {},
        });
        assert.equal(unknown.status, 401);
      }
    }
  });
});
