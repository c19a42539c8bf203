import assert from "node:assert/strict";
import { UncaughtErrors } from "../../cli/last_resort.ts";
import { TestScheduler } from "../support/scheduler.ts";
import { TestLog } from "../support/services.ts";

Deno.test("the first errors of a minute are logged, and the others counted", () => {
  const scheduler = new TestScheduler();
  const log = new TestLog();
  const errors = new UncaughtErrors(log, scheduler);
  for (let count = 0; count < 1000; count++) errors.take(new Error(`${count}`));
  assert.equal(log.lines.length, 10);
  scheduler.advance(60_000);
  assert.deepEqual(log.lines.slice(10), ["error More errors were not caught { count: 990 }"]);
  scheduler.advance(60_000);
  assert.equal(scheduler.pending, 0);
  errors.take(new Error("again"));
  scheduler.advance(60_000);
  assert.equal(log.lines.length, 12);
});

Deno.test("no value that is thrown ends the program, even if it cannot be shown", async () => {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", new URL("throwing.ts", import.meta.url).pathname],
  }).output();
  const text = new TextDecoder();
  assert.ok(success, text.decode(stderr));
  assert.equal(text.decode(stdout), "still there\n");
});
