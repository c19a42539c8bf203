import assert from "node:assert/strict";
import { Unavailable } from "../../../services/kernel/errors.ts";
import { filesLeft, startThread } from "../../../services/kernel/worker_pool.ts";

Deno.test("files that may still be opened are counted up to a number", () => {
  assert.equal(filesLeft(3), 3);
});

Deno.test("a thread that the system refuses is unavailable, and the cause is known", () => {
  const cause = new Error("Resource temporarily unavailable");
  assert.throws(
    () =>
      startThread(() => {
        throw cause;
      }),
    (error: unknown) => error instanceof Unavailable && error.cause === cause,
  );
});
