import assert from "node:assert/strict";
import fc from "fast-check";
import { BoundedQueue } from "../../../services/kernel/bounded_queue.ts";

interface Item {
  readonly key: string;
}

const KEYS = ["a", "b", "c"];

Deno.test("a bounded queue does what its model does", () => {
  const act = fc.record({
    kind: fc.constantFrom(
      "add",
      "add",
      "add anyway",
      "take",
      "take of",
      "put back",
      "cheapest",
      "delete",
      "displace",
    ),
    key: fc.constantFrom(...KEYS),
    index: fc.nat(5),
  });
  const bounds = fc.record({
    max: fc.integer({ min: 1, max: 6 }),
    maxPerKey: fc.integer({ min: 1, max: 4 }),
  });
  fc.assert(fc.property(bounds, fc.array(act, { maxLength: 60 }), (options, acts) => {
    const queue = new BoundedQueue<Item>(options);
    /** Items in the order in which they came, and the keys in the order of their turns. */
    let items: Item[] = [];
    let turns: string[] = [];
    const of = (key: string) => items.filter((item) => item.key === key);
    const remove = (item: Item | undefined) => {
      items = items.filter((other) => other !== item);
      turns = turns.filter((key) => of(key).length > 0);
      return item;
    };
    const takeOf = (key: string | undefined) => {
      if (key === undefined) return undefined;
      turns = turns.filter((other) => other !== key).concat(of(key).length > 0 ? [key] : []);
      return remove(of(key)[0]);
    };
    for (const { kind, key, index } of acts) {
      if (kind === "add") {
        const item = { key };
        const hasRoom = items.length < options.max && of(key).length < options.maxPerKey;
        assert.equal(queue.tryAdd(item, key), hasRoom);
        if (hasRoom) items.push(item);
        if (hasRoom && !turns.includes(key)) turns.push(key);
      } else if (kind === "add anyway") {
        const item = { key };
        queue.add(item, key);
        items.push(item);
        if (!turns.includes(key)) turns.push(key);
      } else if (kind === "take") {
        assert.equal(queue.take(), takeOf(turns[0]));
      } else if (kind === "take of") {
        assert.equal(queue.takeOf(key), takeOf(key));
      } else if (kind === "put back") {
        const taken = takeOf(turns[0]);
        assert.equal(queue.take(), taken);
        if (taken === undefined) continue;
        queue.putBack(taken, taken.key);
        items.unshift(taken);
        turns = [taken.key, ...turns.filter((other) => other !== taken.key)];
      } else if (kind === "cheapest") {
        const costOf = (of: string) => of === key ? Infinity : KEYS.indexOf(of) % 2;
        const cheapest = turns.filter((one) => one !== key)
          .sort((one, other) => costOf(one) - costOf(other));
        assert.equal(queue.take(costOf), takeOf(cheapest[0]));
      } else if (kind === "delete") {
        const item = items[index] ?? { key };
        assert.equal(queue.delete(item, item.key), items.includes(item));
        remove(item);
      } else {
        const most = Math.max(...KEYS.map((one) => of(one).length));
        const longest = most > of(key).length + 1
          ? turns.find((one) => of(one).length === most)
          : undefined;
        assert.equal(
          queue.displaceFor(key),
          remove(longest === undefined ? undefined : of(longest).at(-1)),
        );
      }
      assert.equal(queue.size, items.length);
      assert.deepEqual(KEYS.map((one) => queue.sizeOf(one)), KEYS.map((one) => of(one).length));
    }
    assert.deepEqual(new Set(queue.clear()), new Set(items));
    assert.equal(queue.size, 0);
  }));
});
