import assert from "node:assert/strict";
import fc from "fast-check";
import { Turns } from "../../../services/kernel/turns.ts";
import { TestScheduler } from "../../support/scheduler.ts";

class Worker {
  isPaused = false;
  computed = 0;

  pause(isPaused: boolean): void {
    assert.notEqual(isPaused, this.isPaused, "is told what it does not know");
    this.isPaused = isPaused;
  }
}

Deno.test("so many compute at a time as may, and all get the same time", () => {
  const setup = fc.record({
    most: fc.integer({ min: 1, max: 3 }),
    count: fc.integer({ min: 1, max: 5 }),
    steps: fc.array(
      fc.record({ index: fc.nat(4), ms: fc.integer({ min: 1, max: 30 }) }),
      { maxLength: 40 },
    ),
  });
  fc.assert(fc.property(setup, ({ most, count, steps }) => {
    const scheduler = new TestScheduler();
    const turns = new Turns({
      most,
      sliceMs: 10,
      now: scheduler.now,
      after: (ms, task) => scheduler.after(ms, task),
    });
    const workers = Array.from({ length: count }, () => new Worker());
    const held = new Map<Worker, Disposable>();
    const pass = (ms: number) => {
      for (let at = 0; at < ms; at++) {
        const computing = [...held.keys()].filter(({ isPaused }) => !isPaused);
        assert.equal(computing.length, Math.min(most, held.size));
        for (const one of computing) one.computed++;
        scheduler.advance(1);
      }
    };
    const toggle = (one: Worker) => {
      const turn = held.get(one);
      held.delete(one);
      if (turn === undefined) held.set(one, turns.begin(one));
      else turn[Symbol.dispose]();
      if (turn !== undefined) assert.equal(one.isPaused, false, "it can make other calls");
    };
    for (const { index, ms } of steps) {
      toggle(workers[index % count]!);
      pass(ms);
    }
    for (const one of workers) if (!held.has(one)) toggle(one);
    // Once they have caught up with each other, none is ahead by more than a few turns.
    pass(2000);
    const before = workers.map(({ computed }) => computed);
    pass(1000);
    const got = workers.map(({ computed }, index) => computed - before[index]!);
    assert.ok(Math.max(...got) - Math.min(...got) <= 30, `${got}`);
  }));
});

Deno.test("what is short ends beside what takes long", () => {
  const scheduler = new TestScheduler();
  const turns = new Turns({ most: 1, now: scheduler.now, after: () => {} });
  const [long, short] = [new Worker(), new Worker()];
  using _long = turns.begin(long);
  scheduler.advance(1000);
  for (let call = 0; call < 10; call++) {
    const turn = turns.begin(short);
    assert.deepEqual([long.isPaused, short.isPaused], [true, false]);
    scheduler.advance(5);
    turn[Symbol.dispose]();
    assert.equal(long.isPaused, false);
  }
});
