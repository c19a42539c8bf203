import assert from "node:assert/strict";
import { writeArray } from "../../../services/agents/listing.ts";

Deno.test("a long array is written as JSON.stringify would, and lets other tasks run in between", async () => {
  const items = Array.from({ length: 5000 }, (_, index) => ({ index }));
  let [written, turns] = [0, 0];
  const turn = () => {
    if (written === items.length) return;
    turns++;
    setTimeout(turn, 0);
  };
  setTimeout(turn, 0);
  const text = await writeArray(items, (item) => {
    written++;
    return JSON.stringify(item);
  });
  assert.equal(text, JSON.stringify(items));
  assert.ok(turns >= 5, `${turns} turns`);
});

Deno.test("a short or empty array is written at once", async () => {
  assert.equal(await writeArray([], String), "[]");
  assert.equal(await writeArray([1, 2], String), "[1,2]");
});
