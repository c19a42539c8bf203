import assert from "node:assert/strict";
import fc from "fast-check";
import { Quota } from "../../../services/kernel/quota.ts";

const KEYS = ["a", "b", "c"] as const;

Deno.test("a quota does what its model does", () => {
  const act = fc.record({
    kind: fc.constantFrom("take", "give back", "wait"),
    keys: fc.subarray([...KEYS], { minLength: 1 }),
    index: fc.nat(5),
  });
  const period = fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined });
  fc.assert(fc.property(period, fc.array(act, { maxLength: 40 }), (period, acts) => {
    let now = 1000;
    const quota = new Quota({ ...period === undefined ? {} : { period }, clock: () => now });
    interface Use {
      readonly key: string;
      readonly at: number;
      isGone: boolean;
    }
    const held: { readonly permit: Disposable; readonly uses: readonly Use[] }[] = [];
    const all: Use[] = [];
    const usesOf = (key: string) =>
      all.filter((use) => use.key === key && !use.isGone && now < use.at + (period ?? Infinity));
    for (const { kind, keys, index } of acts) {
      if (kind === "wait") now += index * 3;
      if (kind === "take") {
        const full = keys.find((key) => usesOf(key).length >= 2);
        assert.equal(quota.full(keys.map((key) => ({ key, most: 2 })))?.key, full);
        if (full !== undefined) continue;
        const uses = keys.map((key): Use => ({ key, at: now, isGone: false }));
        all.push(...uses);
        held.push({ permit: quota.take(...keys), uses });
      } else if (kind === "give back") {
        const [one] = held.splice(index % Math.max(1, held.length), 1);
        one?.permit[Symbol.dispose]();
        one?.permit[Symbol.dispose]();
        for (const use of one?.uses ?? []) use.isGone = true;
      }
      assert.deepEqual(KEYS.map((key) => quota.used(key)), KEYS.map((key) => usesOf(key).length));
      for (const key of KEYS) {
        const [oldest] = usesOf(key);
        const wait = oldest === undefined ? 0 : oldest.at + (period ?? Infinity) - now;
        assert.equal(quota.wait(key), wait);
      }
      assert.equal(quota.highest(), Math.max(...KEYS.map((key) => usesOf(key).length)));
    }
    for (const { permit } of held) permit[Symbol.dispose]();
    if (period === undefined) assert.equal(quota.size, 0, "nothing is kept of what is given back");
  }));
});

Deno.test("a use counts for a period, or until the clock is set back", () => {
  let now = 0;
  const quota = new Quota({ period: 100, clock: () => now });
  const early = quota.take("a");
  now = 99;
  assert.equal(quota.used("a"), 1);
  assert.equal(quota.wait("a"), 1);
  now = 100;
  assert.equal(quota.used("a"), 0);
  assert.equal(quota.wait("a"), 0);
  quota.take("a");
  early[Symbol.dispose]();
  assert.equal(quota.used("a"), 1, "what no longer counts is not given back twice");
  now = 50;
  assert.equal(quota.used("a"), 0);
});

Deno.test("a quota forgets the key that was used longest ago", () => {
  const quota = new Quota({ period: 100, maxKeys: 2, clock: () => 0 });
  for (const key of ["a", "b", "a", "c"]) quota.take(key);
  assert.deepEqual(KEYS.map((key) => quota.used(key)), [2, 0, 1]);
});
