import assert from "node:assert/strict";
import { waitInWords } from "../../../services/kernel/words.ts";

Deno.test("a wait is said in seconds, minutes or hours", () => {
  const waits = [0, 1, 89, 90, 5400, 5401, 9000, 72 * 3600].map(waitInWords);
  assert.deepEqual(waits, [
    "0 seconds",
    "1 second",
    "89 seconds",
    "2 minutes",
    "90 minutes",
    "1.5 hours",
    "2.5 hours",
    "72 hours",
  ]);
});
