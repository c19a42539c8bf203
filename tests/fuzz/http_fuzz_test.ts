import assert from "node:assert/strict";
import { fuzzHttp } from "./http_fuzz.ts";

Deno.test("random requests are answered as the OpenAPI document says", async () => {
  const tally = await fuzzHttp(250, 20_261_121);
  // Requests that are all refused would test nothing.
  const successes = [...tally].filter(([status]) => status < 300);
  assert.ok(successes.reduce((sum, [, count]) => sum + count, 0) > 50, Deno.inspect(tally));
});
