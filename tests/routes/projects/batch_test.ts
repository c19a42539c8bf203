import assert from "node:assert/strict";
import { commitFiles, withProject } from "../../support/projects.ts";

Deno.test("a batch answers each read in order, and a bad item fails alone", async () => {
  await withProject(async (test) => {
    const { answer, send, caller } = test;
    await commitFiles(test, { "a.txt": "text", "b.bin": new Uint8Array([0, 255]) });
    const requests = [
      { method: "GET", path: "/api/project" },
      { path: "/api/timeline?per_page=1" },
      { path: "/api/timeline", params: { per_page: 1, branch: null } },
      { path: "/api/timeline?page=2", params: { per_page: "1" } },
      { path: "/api/file", params: { path: "a.txt" } },
      { path: "/api/file?path=b.bin" },
      { path: "/api/branches", method: null, params: null },
      { path: "/api/search" },
      { path: "/api/checkin/nowhere" },
      { path: "/api/timeline", params: { unknown: 1 } },
      { path: "/api/nothing" },
      { path: "/v1/agents" },
      { path: "//elsewhere/api/project" },
      { path: "/api/../v1/agents" },
      { path: "/api/batch" },
      { path: "/api/batch", method: "POST" },
      { path: "/api/star", method: "PUT" },
      { path: "/api/events" },
      { path: "/api/archive/trunk.zip" },
      { path: 7 },
      { path: "/api/project", method: ["GET"] },
      {},
      "GET /api/project",
      null,
      [],
    ];
    const { responses } = await answer("POST /api/batch", { as: caller, body: { requests } });
    const statuses = responses.map(({ status }: { status: number }) => status);
    assert.deepEqual(statuses, [
      ...[200, 200, 200, 200, 200, 200, 200],
      ...[400, 404, 400, 404, 404, 404, 404, 404, 405, 405, 400, 400, 400, 400, 400, 400, 400, 400],
    ]);
    const bodies = responses.map(({ body }: { body: unknown }) => body);
    assert.equal(bodies[0].slug, "demo");
    assert.equal(bodies[1].checkins.length, 1);
    assert.deepEqual(bodies[2], bodies[1]);
    assert.equal(bodies[3].page, 2);
    assert.equal(bodies[4], "text");
    assert.deepEqual(bodies[5], { content_base64: "AP8=" });
    assert.equal(bodies[7].error, "Query parameter 'q' is required");
    assert.equal(bodies[21].error, "Missing 'path'");
    assert.equal(bodies[22].error, "Each request must be an object");
    for (const [index, status] of statuses.entries()) {
      if (status >= 400) assert.equal(typeof bodies[index].error, "string");
    }

    const many = Array.from({ length: 26 }, () => ({ path: "/api/project" }));
    const tooMany = await send("POST /api/batch", { body: { requests: many } });
    assert.equal(tooMany.status, 400);
    assert.match((await tooMany.json()).error, /Maximum 25 requests per batch/);
    assert.deepEqual(await answer("POST /api/batch", { body: { requests: [] } }), {
      responses: [],
    });
    for (const body of [{}, { requests: {} }, [], "{", { requests: null }]) {
      assert.equal((await send("POST /api/batch", { body })).status, 400);
    }
  });
});

Deno.test("the items of a batch have the caller's rights, and a caller without the right to read has no batch", async () => {
  await withProject(async ({ send, outsider }) => {
    const body = { requests: [{ path: "/api/project" }] };
    assert.equal((await send("POST /api/batch", { as: null, body })).status, 401);
    assert.equal((await send("POST /api/batch", { as: outsider, body })).status, 404);
  });
});

Deno.test("a batch refuses archives and streams whose paths are encoded", async () => {
  await withProject(async ({ answer, caller }) => {
    const paths = ["/api/%61rchive/trunk.zip", "/api/archive%2ezip/../%61rchive/trunk.tar.gz"];
    const requests = [...paths, "/api/%65vents"].map((path) => ({ path }));
    const { responses } = await answer("POST /api/batch", { as: caller, body: { requests } });
    for (const { status, body } of responses) {
      assert.deepEqual([status, body.error], [400, "A batch takes neither streams nor archives"]);
    }
  });
});
