import assert from "node:assert/strict";
import { byEverybody, withApi } from "../../support/scenarios.ts";

Deno.test("/v1/nodes is the operator's alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody("GET /v1/nodes", ["operator"], 200),
      ...byEverybody("POST /v1/nodes/a/drain", ["operator"], 404),
      ...byEverybody("POST /v1/nodes/a/resume", ["operator"], 404),
      ...byEverybody("DELETE /v1/nodes/a", ["operator"], 404),
    ]);
  });
});

Deno.test("a server that is alone has no nodes, and says nothing of them", async () => {
  await withApi(async (api) => {
    assert.deepEqual(await api.answer("GET /v1/nodes"), []);
    await api.expect([
      { request: "POST /v1/nodes/a/drain", status: 404, matches: /There is no node/ },
    ]);
    const status = api.services.status;
    assert.equal(status.node, undefined);
  });
});
