import assert from "node:assert/strict";
import { DeferredWriter } from "../../../services/kernel/deferred_writer.ts";
import { TestScheduler } from "../../support/scheduler.ts";

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
