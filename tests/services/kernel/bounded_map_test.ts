import assert from "node:assert/strict";
import fc from "fast-check";
import { BoundedMap } from "../../../services/kernel/bounded_map.ts";

const KEYS = ["a", "b", "c", "d"];

const acts = fc.array(
  fc.record({
    act: fc.constantFrom("set", "use", "delete"),
    key: fc.constantFrom(...KEYS),
    value: fc.integer({ min: 1, max: 9 }),
  }),
);

Deno.test("a bounded map forgets what was used longest ago, by number or by weight", () => {
  fc.assert(fc.property(acts, fc.boolean(), (done, isWeighed) => {
    const weigh = (value: number) => isWeighed ? value : 1;
    const most = isWeighed ? 10 : 2;
    const map = isWeighed
      ? new BoundedMap<string, number>(most, weigh)
      : new BoundedMap<string, number>(most);
    let model: [string, number][] = [];
    for (const { act, key, value } of done) {
      const known = model.find(([name]) => name === key)?.[1];
      assert.equal(map.get(key), known);
      model = model.filter(([name]) => name !== key);
      if (act === "delete") {
        assert.equal(map.delete(key), known !== undefined);
      } else {
        const kept = act === "use" ? known ?? value : value;
        model.push([key, kept]);
        if (act === "set") map.set(key, value);
        else assert.equal(map.use(key, () => value), kept);
      }
      while (model.reduce((sum, [, one]) => sum + weigh(one), 0) > most) model.shift();
      assert.deepEqual([...map.entries()], model);
    }
  }));
});

Deno.test("a bounded map does not keep what is heavier than its bound", () => {
  const map = new BoundedMap<string, string>(3, (text) => text.length);
  map.set("a", "1234");
  assert.equal(map.get("a"), undefined);
  map.set("b", "123");
  assert.equal(map.get("b"), "123");
});
