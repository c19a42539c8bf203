import assert from "node:assert/strict";
import { join } from "node:path";
import { namedExecutable } from "./executable.ts";

Deno.test("a relative path of the executable counts from the folder of the caller", () => {
  const named = (...variables: [string, string][]) => namedExecutable(new Map(variables));
  assert.equal(
    named(["MUSTER_EXECUTABLE", "../dist/muster"], ["INIT_CWD", "/srv/muster/docs"]),
    "/srv/muster/dist/muster",
  );
  assert.equal(
    named(["MUSTER_EXECUTABLE", "dist/muster"]),
    join(Deno.cwd(), "dist", "muster"),
  );
  assert.equal(named(["MUSTER_EXECUTABLE", "/opt/muster"], ["INIT_CWD", "/srv"]), "/opt/muster");
  assert.equal(named(["MUSTER_EXECUTABLE", ""], ["INIT_CWD", "/srv"]), undefined);
  assert.equal(named(["INIT_CWD", "/srv"]), undefined);
});
