import assert from "node:assert/strict";
import { accepts } from "../../http/mod.ts";

Deno.test("a type that a client refuses with a weight of 0 is not accepted", () => {
  const accepted = [
    "application/json",
    "text/plain, Application/JSON",
    "application/json;q=0.1",
    "application/json; charset=utf-8 ; q=1",
    "*/*;q=0, application/json",
  ];
  for (const accept of accepted) assert.ok(accepts(accept, "application/json"), accept);
  const refused = [
    null,
    "",
    "*/*",
    "application/json;q=0",
    "application/json; q=0.000",
    "application/json;Q=0, text/plain",
    "application/json-seq",
  ];
  for (const accept of refused) assert.ok(!accepts(accept, "application/json"), String(accept));
});
