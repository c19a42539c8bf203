import assert from "node:assert/strict";
import fc from "fast-check";
import { DeferredWriter } from "../../../services/kernel/deferred_writer.ts";
import { TestScheduler } from "../../support/scheduler.ts";
import { THOROUGH } from "../../support/level.ts";

/** A queue that counts its batches, on a disk that a test can break. */
function newQueue() {
  const scheduler = new TestScheduler();
  const state = { waiting: 0, batches: 0, works: true };
  const writes = new DeferredWriter({
    scheduler,
    hasWaiting: () => state.waiting > 0,
    writeBatch() {
      state.batches++;
      if (state.works) state.waiting--;
      return Promise.resolve(state.works);
    },
  });
  const add = (changes: number) => {
    state.waiting += changes;
    writes.schedule();
  };
  /** Lets time pass, and then every promise settle. */
  const pass = async (milliseconds: number) => {
    scheduler.advance(milliseconds);
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { state, writes, add, pass };
}

/** What happens to a queue: to its owner, its disk or the clock. */
const acts = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({ pass: fc.constantFrom(0, 1, 7, 19, 20, 21, 999, 30_000) }),
  },
  { weight: 4, arbitrary: fc.record({ answer: fc.constantFrom(true, true, false) }) },
  { weight: 4, arbitrary: fc.record({ gather: fc.constantFrom(20, 5000) }) },
  { weight: 1, arbitrary: fc.record({ write: fc.constant(true as const) }) },
  { weight: 1, arbitrary: fc.record({ stop: fc.constant(true as const) }) },
);

Deno.test("a deferred writer does what its model does", THOROUGH, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 20, maxLength: 40 }), async (list) => {
      const scheduler = new TestScheduler();
      const disk = { batches: 0, waiting: 0, answer: null as ((works: boolean) => void) | null };
      let gather = 20;
      const writer = new DeferredWriter({
        scheduler,
        gather: () => gather,
        hasWaiting: () => disk.waiting > 0,
        writeBatch() {
          assert.equal(disk.answer, null, "one batch at a time");
          disk.batches++;
          const { promise, resolve } = Promise.withResolvers<boolean>();
          disk.answer = (works) => {
            disk.answer = null;
            if (works) disk.waiting = Math.max(0, disk.waiting - 2);
            resolve(works);
          };
          return promise;
        },
      });
      const nextMultiple = (step: number) => (Math.floor(scheduler.now() / step) + 1) * step;
      const model = {
        /** When the next batch begins, and whether it may wait longer than 20 ms. */
        next: null as { readonly at: number; readonly isPatient: boolean } | null,
        batches: 0,
        failures: 0,
        lastAt: -Infinity,
        isWriting: false,
        isStopped: false,
      };
      const plan = (isFirst: boolean) => {
        if (model.isWriting || model.isStopped || model.next !== null) return;
        const now = scheduler.now();
        const isPatient = model.failures === 0 && gather > 20;
        let at = isFirst && now - model.lastAt < 20 ? nextMultiple(20) : now;
        if (model.failures > 0) at = now + Math.min(1000 * 2 ** (model.failures - 1), 30_000);
        else if (isPatient) at = nextMultiple(gather);
        model.next = { at, isPatient };
      };
      const begin = (at: number) => {
        if (model.isWriting) return;
        model.batches++;
        model.lastAt = at;
        model.isWriting = true;
      };
      for (const act of list) {
        if ("add" in act) {
          disk.waiting += act.add;
          writer.schedule();
          if (model.next?.isPatient === true && gather === 20) model.next = null;
          plan(true);
        } else if ("pass" in act) {
          const until = scheduler.now() + act.pass;
          if (model.next !== null && model.next.at <= until) {
            // What waited may have been written at once.
            if (model.failures > 0 || disk.waiting > 0) begin(model.next.at);
            model.next = null;
          }
          scheduler.advance(act.pass);
        } else if ("answer" in act && disk.answer !== null) {
          disk.answer(act.answer);
          model.isWriting = false;
          model.failures = act.answer ? 0 : model.failures + 1;
          if (disk.waiting > 0) plan(false);
        } else if ("gather" in act) gather = act.gather;
        else if ("write" in act) {
          void writer.write();
          begin(scheduler.now());
        } else if ("stop" in act) {
          writer.stop();
          model.isStopped = true;
          model.next = null;
        }
        await new Promise((resolve) => setTimeout(resolve));
        assert.deepEqual([disk.batches, writer.failing], [
          model.batches,
          model.failures > 0,
        ]);
      }
    }),
    { numRuns: 50 },
  );
});

Deno.test("a change after a quiet time is written in the next turn, without a timer", async () => {
  const { state, add, pass } = newQueue();
  for (let change = 1; change <= 3; change++) {
    add(1);
    assert.equal(state.batches, change - 1);
    await pass(0);
    assert.deepEqual([state.batches, state.waiting], [change, 0]);
    await pass(20);
  }
});

Deno.test("further changes are gathered for 20 ms, then written batch by batch", async () => {
  const { state, add, pass } = newQueue();
  add(1);
  await pass(0);
  add(1);
  await pass(19);
  add(1);
  assert.equal(state.batches, 1);
  await pass(1);
  assert.equal(state.batches, 2);
  await pass(0);
  assert.deepEqual([state.batches, state.waiting], [3, 0]);
  await pass(60_000);
  assert.equal(state.batches, 3);
});

Deno.test("a refused batch is tried again after a wait that doubles up to 30 seconds", async () => {
  const { state, writes, add, pass } = newQueue();
  state.works = false;
  add(1);
  await pass(20);
  for (const wait of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    assert.equal(writes.failing, true);
    const { batches } = state;
    add(0);
    await pass(wait - 1);
    assert.equal(state.batches, batches, `${wait} ms`);
    await pass(1);
    assert.equal(state.batches, batches + 1, `${wait} ms`);
  }
  state.works = true;
  await pass(30_000);
  assert.deepEqual([writes.failing, state.waiting], [false, 0]);
  add(1);
  await pass(20);
  assert.equal(state.waiting, 0);
});

Deno.test("one batch is written at a time, and none after stop()", async () => {
  const { state, writes, add, pass } = newQueue();
  add(2);
  const both = [writes.write(), writes.write()];
  assert.deepEqual(await Promise.all(both), [true, true]);
  assert.deepEqual([state.batches, state.waiting], [1, 1]);
  writes.stop();
  add(1);
  await pass(60_000);
  assert.equal(state.batches, 1);
});

Deno.test("what was written at once leaves no batch for later", async () => {
  const { state, writes, add, pass } = newQueue();
  add(1);
  assert.equal(await writes.write(), true);
  await pass(60_000);
  assert.deepEqual([state.batches, state.waiting], [1, 0]);
  add(1);
  await pass(20);
  assert.deepEqual([state.batches, state.waiting], [2, 0]);
});

Deno.test("changes are written at multiples of 20 ms, when other timers wake the program too", async () => {
  const { state, add, pass } = newQueue();
  await pass(7);
  add(1);
  await pass(0);
  assert.equal(state.batches, 1);
  add(1);
  await pass(12);
  assert.equal(state.batches, 1);
  await pass(1);
  assert.equal(state.batches, 2);
  add(1);
  await pass(19);
  assert.equal(state.batches, 2);
  await pass(1);
  assert.equal(state.batches, 3);
});
