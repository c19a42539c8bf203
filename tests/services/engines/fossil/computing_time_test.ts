import assert from "node:assert/strict";
import { ComputingTime, longestFor } from "../../../../services/engines/fossil/computing_time.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";

/** The milliseconds by the clock that some work takes. */
function clockTimeOf(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

Deno.test("a thread that does not get the core does not use up its time", () => {
  // A busy machine may wake it far too late; then it sleeps again, for longer.
  for (let limit = 200;; limit *= 2) {
    let hasExceeded = false;
    const passed = clockTimeOf(() => {
      const time = new ComputingTime();
      sleep(1.5 * limit);
      hasExceeded = time.exceeds(limit);
    });
    if (passed >= longestFor(limit)) continue;
    assert.equal(hasExceeded, false);
    break;
  }
});

Deno.test("the time is over once a thread has computed for so long, or waited for far longer", () => {
  let computed = 0;
  const passed = clockTimeOf(() => {
    const time = new ComputingTime();
    computed = cpuTimeOf(() => {
      while (!time.exceeds(100));
    });
  });
  assert.ok(computed >= 80 || passed > longestFor(100), `${computed} ms`);
  const time = new ComputingTime();
  sleep(longestFor(10) + 1);
  assert.ok(time.exceeds(10));
});

Deno.test("waiting makes reads no longer than half a minute", () => {
  assert.deepEqual([0, 1, 10_000, 60_000].map(longestFor), [0, 3, 30_000, 80_000]);
});
