import assert from "node:assert/strict";
import { formatEnvelope } from "../../../../services/chat/bridge/mod.ts";
import {
  Escalation,
  type Pattern,
  Rates,
  Repetition,
} from "../../../../services/chat/bots/warden.ts";

const START = Date.parse("2026-11-22T12:00:00Z");

/** Adds messages `speaker: text`, a second apart; returns the pattern that each completes. */
function patterns(
  lines: readonly string[],
  { everybodyIsProgram = true, step = 1000 }: { everybodyIsProgram?: boolean; step?: number } = {},
): (Pattern | null)[] {
  const repetition = new Repetition();
  return lines.map((line, index) => {
    const [speaker = "", text = ""] = line.split(": ");
    const time = START + index * step;
    return repetition.add("#a", { speaker, isProgram: everybodyIsProgram, text, time });
  });
}

function exchange(length: number, text: (index: number) => string): string[] {
  return Array.from({ length }, (_, index) => `${index % 2 === 0 ? "a" : "b"}: ${text(index)}`);
}

Deno.test("a rate allows a burst, then its pace, and forgets nobody's debt", () => {
  const rates = new Rates();
  const rate = { perSecond: 2, burst: 3 };
  const said = [0, 0, 0, 0, 499, 500, 600, 1000, 9000, 9000, 9000, 9000].map((after) =>
    rates.admits("a", rate, START + after)
  );
  const expected = [true, true, true, false, false, true, false, true, true, true, true, false];
  assert.deepEqual(said, expected);
  assert.equal(rates.admits("b", rate, START), true);
});

Deno.test("a rate of 0 is no limit, and a burst of 0 still lets single messages pass", () => {
  const rates = new Rates();
  const all = Array.from(
    { length: 100 },
    () => rates.admits("a", { perSecond: 0, burst: 0 }, START),
  );
  assert.ok(all.every(Boolean));
  const single = { perSecond: 1, burst: 0 };
  const said = [0, 1, 1000].map((after) => rates.admits("b", single, START + after));
  assert.deepEqual(said, [true, false, true]);
});

Deno.test("a text that one speaker says three times among ten messages is a loop", () => {
  assert.deepEqual(patterns(["a: Hi", "a: hi", "a:  HI "]), [null, null, "loop"]);
  const others = Array.from({ length: 4 }, (_, index) => `b: something else ${index}`);
  assert.equal(patterns(["a: hi", ...others, "a: hi", ...others, "a: hi"]).at(-1), null);
  assert.equal(patterns(["a: hi", "b: hi", "c: hi"]).at(-1), null);
  assert.equal(patterns(["a: hi", "a: hi", "a: hi"], { step: 61_000 }).at(-1), null);
});

Deno.test("envelopes that say the same are a loop, although their ids differ", () => {
  const repetition = new Repetition();
  const say = (index: number, status: string) => {
    const text = formatEnvelope({ type: "task.update", from: "a", payload: { status } }, index);
    return repetition.add("#a", { speaker: "a", isProgram: true, text, time: START + index });
  };
  assert.deepEqual([1, 2].map((index) => say(index, "running")), [null, null]);
  assert.equal(say(3, "done"), null);
  assert.equal(say(4, "running"), "loop");
});

Deno.test("two speakers that answer each other with the same words play ping-pong", () => {
  const polite = exchange(
    8,
    (index) => index % 2 === 0 ? `thanks${index % 4}` : `welcome${index % 4}`,
  );
  assert.deepEqual(patterns(polite).slice(-2), [null, "ping_pong"]);
  const useful = exchange(16, (index) => `part ${index}`);
  assert.equal(patterns(useful).at(-1), null);
  const joined = [...polite.slice(0, 7), "c: may I?", ...polite.slice(7)];
  assert.equal(patterns(joined).at(-1), null);
});

Deno.test("twenty turns of two programs are ping-pong whatever they say; those of people are not", () => {
  const talk = exchange(20, (index) => `part ${index}`);
  assert.deepEqual(patterns(talk).slice(-2), [null, "ping_pong"]);
  assert.equal(patterns(talk, { everybodyIsProgram: false }).at(-1), null);
  assert.equal(patterns(talk, { step: 10_000 }).at(-1), null);
});

Deno.test("a channel that is forgotten starts anew", () => {
  const repetition = new Repetition();
  const say = () => {
    return repetition.add("#a", { speaker: "a", isProgram: true, text: "hi", time: START });
  };
  assert.deepEqual([say(), say()], [null, null]);
  repetition.forget("#a");
  assert.deepEqual([say(), say(), say()], [null, null, "loop"]);
});

Deno.test("violations lead to a warning, then a mute, then a kick, round by round", () => {
  const escalation = new Escalation();
  const patience = { violations: 3, cooldown: 60_000 };
  const steps = Array.from({ length: 14 }, (_, index) => {
    return escalation.add("a", 1, patience, START + index);
  });
  const [warned, muted, kicked, again] = [0, 3, 6, 9].map((index) => steps[index]);
  assert.deepEqual([warned, muted, kicked], ["warn", "mute", "kick"]);
  assert.equal(again, "kick");
  assert.equal(steps.filter((step) => step !== null).length, 5);
});

Deno.test("a whole round takes the next step at once, and three quiet cooldowns forgive", () => {
  const escalation = new Escalation();
  const patience = { violations: 10, cooldown: 60_000 };
  const loop = (after: number) => escalation.add("a", 10, patience, START + after);
  assert.deepEqual([0, 1, 2].map(loop), ["warn", "mute", "kick"]);
  assert.equal(loop(180_000), "kick");
  assert.equal(loop(180_000 + 180_001), "warn");
  escalation.forget("a");
  assert.equal(loop(400_000), "warn");
});
