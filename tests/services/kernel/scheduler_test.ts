import assert from "node:assert/strict";
import { systemScheduler } from "../../../services/kernel/scheduler.ts";
import { keepTimers } from "../../support/kept_timers.ts";

Deno.test("a task that was called off does not run, though its timer does", () => {
  keepTimers((timers) => {
    const done: string[] = [];
    systemScheduler.after(5, () => done.push("kept"));
    const callOff = systemScheduler.after(5, () => done.push("called off"));
    callOff();
    for (const task of timers) task();
    assert.deepEqual(done, ["kept"]);
  });
});
