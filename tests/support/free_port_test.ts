import assert from "node:assert/strict";
import { join } from "node:path";
import { freePort } from "./free_port.ts";

Deno.test("in a run of the tests, no two tests get the same port", () => {
  const folder = Deno.env.get("MUSTER_TEST_PORTS");
  assert.ok(folder !== undefined, "scripts/test.ts makes the folder");
  const ports = Array.from({ length: 500 }, freePort);
  assert.equal(new Set(ports).size, ports.length);
  for (const port of ports) Deno.removeSync(join(folder, String(port)));
});
