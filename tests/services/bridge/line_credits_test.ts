import assert from "node:assert/strict";
import { LineCredits } from "../../../services/bridge/line_credits.ts";

const LINE = { channel: "#room", mark: "ann again" };
const isConfirmed = () => Promise.resolve();

Deno.test("a stored line stands for one heard line", () => {
  const credits = new LineCredits(() => 0);
  credits.add(LINE, isConfirmed);
  credits.add(LINE, isConfirmed);
  assert.deepEqual([1, 2, 3].map(() => credits.spend(LINE) !== null), [true, true, false]);
});

Deno.test("a line that was stored long ago is not on its way, although others of its mark are", () => {
  let now = 0;
  const credits = new LineCredits(() => now);
  for (; now < 600_000; now += 10_000) credits.add(LINE, isConfirmed);
  const spent = Array.from({ length: 60 }, () => credits.spend(LINE));
  assert.equal(spent.filter(Boolean).length, 5);
});
