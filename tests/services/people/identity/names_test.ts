import assert from "node:assert/strict";
import { foldCase } from "../../../../services/engines/irc/mod.ts";
import { reservedNames } from "../../../../services/people/identity/names.ts";

Deno.test("the names of all nodes' bridges are reserved where there are nodes", () => {
  const [alone, node] = [reservedNames("Bridge", false), reservedNames("Bridge", true)];
  for (const name of ["bridge", "warden", "NickServ", "operator"]) {
    assert.ok(alone.has(foldCase(name)) && node.has(foldCase(name)), name);
  }
  for (const name of ["bridge-a", "BRIDGE-another-node", "bridge-a-console"]) {
    assert.deepEqual([alone.has(foldCase(name)), node.has(foldCase(name))], [false, true], name);
  }
  assert.equal(node.has("bridget"), false);
});
