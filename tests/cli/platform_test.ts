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

const MODULE = new URL("../../cli/platform.ts", import.meta.url).href;

/** Fills 40 MB of the heap, then keeps every tenth object, so that all pages are nearly empty. */
const PROGRAM = `
import { releaseStartMemory } from ${JSON.stringify(MODULE)};
let parts = Array.from({ length: 50_000 }, (_, index) => new Array(100).fill(index));
globalThis.gc?.();
const kept = parts.filter((_, index) => index % 10 === 0);
parts = [];
const before = Deno.memoryUsage().heapTotal;
releaseStartMemory();
console.log(Deno.memoryUsage().heapTotal / before, kept.length);
`;

/** The heap's size after the release, as a part of its size before. */
async function partLeft(...flags: string[]): Promise<number> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", ...flags, PROGRAM],
    env: { NO_COLOR: "1" },
  }).output();
  assert.ok(success);
  return Number.parseFloat(new TextDecoder().decode(stdout));
}

Deno.test("the memory of the start is given back", async () => {
  const part = await partLeft("--v8-flags=--expose-gc");
  assert.ok(part < 0.4, `${part} of it is left`);
});

Deno.test("a runtime without the flag keeps the memory of the start", async () => {
  assert.equal(await partLeft(), 1);
});
