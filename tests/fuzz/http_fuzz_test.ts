import assert from "node:assert/strict";
import { fuzzHttp } from "./http_fuzz.ts";

Deno.test("random requests are answered as the OpenAPI document says", async () => {
  const requests = 250;
  const tally = await fuzzHttp(requests, 20_261_121);
  // Requests that are all refused would test nothing. How many succeed depends on the document's order.
  const successes = [...tally].filter(([status]) => status < 300)
    .reduce((sum, [, count]) => sum + count, 0);
  assert.ok(successes > requests / 10, Deno.inspect(tally));
});
