import assert from "node:assert/strict";
import { inPieces, writeArray } from "../../../services/kernel/pieces.ts";

/** Counts the turns in which other tasks can run until the work is done. */
function countTurns(isDone: () => boolean): () => number {
  let turns = 0;
  const turn = () => {
    if (isDone()) return;
    turns++;
    setTimeout(turn, 0);
  };
  setTimeout(turn, 0);
  return () => turns;
}

/** A clock on which each call of `work` takes so many milliseconds. */
function workingClock(milliseconds: number): { clock(): number; work(): void } {
  let now = 0;
  return { clock: () => now, work: () => void (now += milliseconds) };
}

Deno.test("other tasks run after each millisecond of work, however few items it was", async () => {
  const items = Array.from({ length: 320 });
  const { clock, work } = workingClock(0.5);
  let done = 0;
  const turns = countTurns(() => done === items.length);
  await inPieces(items, () => {
    work();
    done++;
  }, clock);
  assert.equal(done, items.length);
  assert.ok(turns() >= 19, `${turns()} turns`);
});

Deno.test("work of less than a millisecond is done at once", async () => {
  const items = Array.from({ length: 320 });
  const { clock, work } = workingClock(0.001);
  let done = 0;
  const doing = inPieces(items, () => {
    work();
    done++;
  }, clock);
  assert.equal(done, items.length);
  await doing;
});

Deno.test("an array is written as JSON.stringify would", async () => {
  const items = Array.from({ length: 5000 }, (_, index) => ({ index, text: `"${index}"` }));
  assert.equal(await writeArray(items), JSON.stringify(items));
  assert.equal(await writeArray([1, 2], String), "[1,2]");
  assert.equal(await writeArray([], String), "[]");
});
