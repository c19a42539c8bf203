import assert from "node:assert/strict";
import { Sweep } from "../../services/sweep.ts";

/** Steps of the job queue: more than a run and its end take. */
const STEPS = 12;

Deno.test("A start is followed by a run, at whatever step of an earlier run it comes", async () => {
  for (let step = 0; step < STEPS; step++) {
    let work = 1;
    const sweep = new Sweep(async () => {
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
  const sweep = new Sweep(async () => {
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
