import assert from "node:assert/strict";
import { timeLeft } from "../../cli/hook/deadline.ts";

Deno.test("a hook waits until the whole process has taken its time, and less under load", () => {
  assert.equal(timeLeft(10, 10), 95, "60 ms before the clock and 10 after it, on an idle machine");
  assert.equal(timeLeft(10, 60), 45);
  assert.equal(timeLeft(30, 30), 45, "90 ms before the clock");
  assert.equal(timeLeft(10, 500), 20, "A server on this machine can still answer");
  assert.equal(timeLeft(200, 200), 20);
});
