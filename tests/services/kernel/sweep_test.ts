import assert from "node:assert/strict";
import { Sweep, TimedSweep } from "../../../services/kernel/sweep.ts";
import { silentLog } from "../../../services/kernel/log.ts";
import { TestScheduler } from "../../support/scheduler.ts";
import { TestLog } from "../../support/services.ts";

/** A sweep whose task does not fail. */
function sweepOf(task: () => Promise<void>): Sweep {
  return new Sweep({ log: silentLog, name: "test", task });
}

/** Steps of the job queue: more than a run and its end take. */
const STEPS = 12;

Deno.test("A start is followed by a run, at whatever step of an earlier run it comes", async () => {
  for (let step = 0; step < STEPS; step++) {
    let work = 1;
    const sweep = sweepOf(async () => {
      const found = work;
      await null;
      work -= found;
    });
    sweep.start();
    for (let done = 0; done < step; done++) await null;
    work++;
    sweep.start();
    await sweep.idle();
    assert.equal(work, 0, `work that came at step ${step} is not done`);
  }
});

Deno.test("A sweep never runs twice at once, and once more for any number of starts", async () => {
  let [running, runs] = [0, 0];
  const gate = Promise.withResolvers<void>();
  const sweep = sweepOf(async () => {
    assert.equal(running++, 0, "It runs twice at once");
    runs++;
    await gate.promise;
    running--;
  });
  for (let time = 0; time < 5; time++) sweep.start();
  gate.resolve();
  await sweep.idle();
  assert.equal(runs, 2);
});

Deno.test("A timed sweep runs when something falls due, however far away, and not once it is closed", async () => {
  const clock = new TestScheduler();
  const day = 24 * 60 * 60 * 1000;
  const start = clock.now();
  const due = [start + 60 * day, start + 61 * day];
  const ran: number[] = [];
  const task = () => {
    while (due[0] !== undefined && due[0] <= clock.now()) ran.push((due.shift() ?? 0) - start);
    return Promise.resolve(due[0] ?? Infinity);
  };
  const sweep = new TimedSweep({ scheduler: clock, log: silentLog, name: "test", task });
  sweep.start();
  await sweep.idle();
  for (let days = 0; days < 60; days++) {
    assert.deepEqual(ran, []);
    clock.advance(day);
    await sweep.idle();
  }
  assert.deepEqual(ran, [60 * day]);
  due.unshift(clock.now() + 10);
  sweep.expect(clock.now() + 10);
  clock.advance(10);
  await sweep.close();
  clock.advance(2 * day);
  sweep.start();
  await sweep.idle();
  assert.deepEqual(due, [start + 61 * day]);
});

Deno.test("a task that fails is logged, and runs again if it was asked to", async () => {
  const log = new TestLog();
  let runs = 0;
  const sweep = new Sweep({
    log,
    name: "test",
    task: () => {
      if (runs++ > 0) return Promise.resolve();
      sweep.start();
      throw new Error("a bug");
    },
  });
  sweep.start();
  await sweep.idle();
  assert.equal(runs, 2);
  assert.equal(log.lines.length, 1);
  assert.match(log.lines.join(), /^error Work in the background failed \{\s+work: "test",/);
});

Deno.test("a timed task that fails runs again after a minute", async () => {
  const scheduler = new TestScheduler();
  let runs = 0;
  const sweep = new TimedSweep({
    scheduler,
    log: silentLog,
    name: "test",
    task: () => runs++ === 0 ? Promise.reject(new Error("a bug")) : Promise.resolve(Infinity),
  });
  sweep.start();
  await sweep.idle();
  scheduler.advance(60_000);
  await sweep.close();
  assert.equal(runs, 2);
});
