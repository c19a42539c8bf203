import assert from "node:assert/strict";
import Ajv from "ajv/dist/2020.js";
import { withApi } from "../support/scenarios.ts";

Deno.test("editors get the schema of definitions, without a token", async () => {
  await withApi(async (api) => {
    const response = await api.send({ who: "guest", request: "GET /schemas/checks.json" });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^application\/schema\+json/);
    const validate = new Ajv.default({ strict: false }).compile(await response.json());
    assert.ok(
      validate({ checks: { tests: { run: "make", on: ["review", { cron: "0 4 * * *" }] } } }),
    );
    assert.ok(!validate({ checks: { tests: { run: "make", timeuot: "5m" } } }));
    assert.ok(!validate({ checks: { tests: {} } }));
  });
});
