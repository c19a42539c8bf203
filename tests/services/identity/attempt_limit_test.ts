import assert from "node:assert/strict";
import fc from "fast-check";
import { AttemptLimit } from "../../../services/identity/attempt_limit.ts";

const FAILURES = 3;
const WINDOW = 1000;

Deno.test("AttemptLimit decides as a list of every failure would", () => {
  const step = fc.record({
    key: fc.constantFrom("a", "b", "c"),
    wait: fc.nat(WINDOW / 2),
    outcome: fc.constantFrom("failed" as const, "passed" as const),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    let now = 0;
    const limit = new AttemptLimit({
      failures: FAILURES,
      window: WINDOW,
      keys: 3,
      clock: () => now,
    });
    const failures: { key: string; time: number }[] = [];
    for (const { key, wait, outcome } of steps) {
      now += wait;
      const recent = failures.filter((failure) =>
        failure.key === key && failure.time > now - WINDOW
      );
      const permit = limit.permit(key);
      assert.equal(permit.kind, recent.length < FAILURES ? "granted" : "exhausted");
      if (permit.kind !== "granted") continue;
      limit.begin(key);
      limit.end(key, outcome);
      if (outcome === "failed") failures.push({ key, time: now });
    }
  }));
});

Deno.test("a full AttemptLimit forgets the key with the oldest failure", () => {
  const limit = new AttemptLimit({ failures: 1, window: WINDOW, keys: 2, clock: () => 0 });
  for (const key of ["a", "b", "c"]) {
    limit.begin(key);
    limit.end(key, "failed");
  }
  const kinds = ["a", "b", "c"].map((key) => limit.permit(key).kind);
  assert.deepEqual(kinds, ["granted", "exhausted", "exhausted"]);
});
