import assert from "node:assert/strict";
import { endSignals, reloadSignals, restrictNewFiles } from "../../cli/platform.ts";

Deno.test("a server ends and reloads by the signals of its system", () => {
  for (const system of ["linux", "darwin"] as const) {
    assert.deepEqual(endSignals(system), ["SIGTERM", "SIGINT"]);
    assert.deepEqual(reloadSignals(system), ["SIGHUP"]);
  }
  // There, Deno refuses SIGTERM, and SIGHUP means that the console is closed.
  assert.deepEqual(endSignals("windows"), ["SIGINT", "SIGBREAK"]);
  assert.deepEqual(reloadSignals("windows"), []);
});

Deno.test("new files are for their owner alone where the system has a mask", () => {
  const before = Deno.umask(0o022);
  try {
    restrictNewFiles("windows");
    assert.equal(Deno.umask(0o022), 0o022);
    restrictNewFiles("linux");
    assert.equal(Deno.umask(0o022), 0o077);
  } finally {
    Deno.umask(before);
  }
});
