import assert from "node:assert/strict";
import { byEverybody, withApi } from "../../support/scenarios.ts";

Deno.test("/v1/log and /v1/pauses are the operator's and admins' alone", async () => {
  await withApi(async (api) => {
    await api.expect([
      ...byEverybody("GET /v1/log", ["operator"], 200),
      ...byEverybody("PUT /v1/log", ["operator"], 400),
      ...byEverybody("DELETE /v1/pauses/none", ["operator"], 404),
      ...byEverybody("POST /v1/pauses", [], 403)
        .filter(({ who }) => who !== "operator" && who !== "admin"),
    ]);
  });
});

Deno.test("PUT /v1/log changes the level of the log, and its change is an event", async () => {
  await withApi(async (api) => {
    assert.deepEqual(await api.answer("GET /v1/log"), { level: "info" });
    const changed = { request: "PUT /v1/log", body: { level: "debug" }, status: 200 };
    await api.expect([changed, changed]);
    assert.deepEqual(await api.answer("GET /v1/log"), { level: "debug" });
    const answer = await api.answer("GET /v1/events?types=program.log_level_changed");
    const { events } = answer as { events: { data: unknown }[] };
    assert.deepEqual(events.map(({ data }) => data), [
      { level: "debug", previous: "info" },
    ]);
    await api.expect([{ request: "PUT /v1/log", body: { level: "loud" }, status: 400 }]);
  });
});

Deno.test("a pause ends once, by its caller or by itself, and there is one at a time", async () => {
  await withApi(async (api) => {
    const begin = async () => await (await api.send({ request: "POST /v1/pauses" })).json();
    const { id, seconds, busy } = await begin();
    assert.deepEqual([seconds, busy], [5, []]);
    await api.expect([
      { request: "POST /v1/pauses", status: 409 },
      { request: `DELETE /v1/pauses/${id}`, status: 204 },
      { request: `DELETE /v1/pauses/${id}`, status: 404 },
    ]);
    const second = await begin();
    assert.notEqual(second.id, id);
    api.services.clock.advance(5000);
    await api.expect([{ request: `DELETE /v1/pauses/${second.id}`, status: 404 }]);
  });
});
