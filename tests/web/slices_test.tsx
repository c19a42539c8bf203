import assert from "node:assert/strict";
import { Slices } from "../../web/parts/slices.tsx";

const ROWS = Array.from({ length: 200 }, (_, index) => `<${index}>`);

/** Renders rows by a clock that moves on by so many milliseconds at each look; counts the turns. */
async function renderBy(step: number): Promise<{ text: string; turns: number }> {
  let [now, turns, isOver] = [0, 0, false];
  const count = () => {
    turns++;
    if (!isOver) timer = setTimeout(count);
  };
  let timer = setTimeout(count);
  const rows = await new Slices(() => now += step).render(
    ROWS,
    (row, index) => <li id={`${index}`}>{row}</li>,
  );
  isOver = true;
  clearTimeout(timer);
  return { text: String(rows), turns };
}

Deno.test("long lists are rendered whole, and leave others their turns", async () => {
  const whole = ROWS.map((_, index) => `<li id="${index}">&lt;${index}&gt;</li>`).join("");
  assert.deepEqual(await renderBy(0), { text: whole, turns: 0 });
  const { text, turns } = await renderBy(1);
  assert.equal(text, whole);
  assert.ok(turns > 1, `${turns} turns`);
});

Deno.test("an empty list is rendered as nothing", async () => {
  assert.equal(String(await new Slices().render([], () => <li />)), "");
});
