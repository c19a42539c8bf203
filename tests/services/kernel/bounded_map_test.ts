import assert from "node:assert/strict";
import fc from "fast-check";
import { BoundedMap } from "../../../services/kernel/bounded_map.ts";

const KEYS = ["a", "b", "c", "d"];

const acts = fc.array(
  fc.record({
    act: fc.constantFrom("set", "use", "get", "delete", "clear"),
    key: fc.constantFrom(...KEYS),
    value: fc.integer({ min: 1, max: 9 }),
  }),
);

Deno.test("a bounded map forgets what was used longest ago, by number or by weight", () => {
  fc.assert(fc.property(acts, fc.boolean(), (done, isWeighed) => {
    const weigh = (value: number) => isWeighed ? value : 1;
    const [most, mostOfOne] = isWeighed ? [10, 7] : [2, 1];
    let forgotten = 0;
    const onForgotten = (value: number) => forgotten += value;
    const map = new BoundedMap<string, number>(
      isWeighed ? { most, weigh, mostOfOne, onForgotten } : most,
    );
    let given = 0;
    const weightOf = (entries: readonly [string, number][]) =>
      entries.reduce((sum, [, one]) => sum + weigh(one), 0);
    let model: [string, number][] = [];
    for (const { act, key, value } of done) {
      const known = model.find(([name]) => name === key)?.[1];
      assert.equal(map.peek(key), known);
      if (act === "set" || (act === "use" && known === undefined)) given += value;
      if (act === "clear") {
        map.clear();
        model = [];
      } else {
        model = model.filter(([name]) => name !== key);
        const kept = act === "delete" ? undefined : act === "set" ? value : known;
        if (act === "delete") assert.equal(map.delete(key), known !== undefined);
        else if (act === "get") assert.equal(map.get(key), known);
        else if (act === "set") map.set(key, value);
        else assert.equal(map.use(key, () => value), known ?? value);
        const held = act === "use" ? known ?? value : kept;
        if (held !== undefined && weigh(held) <= mostOfOne) model.push([key, held]);
        while (weightOf(model) > most) model.shift();
      }
      assert.deepEqual([...map.entries()], model);
      assert.equal(map.size, model.length);
      assert.equal(map.weight, weightOf(model));
      // Each value is kept, or is told to be forgotten, once.
      if (isWeighed) assert.equal(forgotten, given - map.weight);
    }
  }));
});
