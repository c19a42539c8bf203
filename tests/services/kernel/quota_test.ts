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
    const held: { readonly permit: Disposable; readonly uses: { gone: boolean }[] }[] = [];
    /** By key: when its period began, and what was taken in it. */
    const model = new Map<string, { readonly since: number; readonly uses: { gone: boolean }[] }>();
    const usesOf = (key: string) => {
      const known = model.get(key);
      const isCurrent = known !== undefined && now < known.since + (period ?? Infinity);
      return isCurrent ? known.uses.filter(({ gone }) => !gone) : [];
    };
    for (const { kind, keys, index } of acts) {
      if (kind === "wait") now += index * 3;
      if (kind === "take") {
        const full = keys.find((key) => usesOf(key).length >= 2);
        assert.equal(quota.full(keys.map((key) => ({ key, most: 2 })))?.key, full);
        if (full !== undefined) continue;
        const uses = keys.map((key) => {
          const use = { gone: false };
          if (usesOf(key).length === 0) model.set(key, { since: now, uses: [] });
          model.get(key)?.uses.push(use);
          return use;
        });
        held.push({ permit: quota.take(...keys), uses });
      } else if (kind === "give back") {
        const [one] = held.splice(index % Math.max(1, held.length), 1);
        one?.permit[Symbol.dispose]();
        one?.permit[Symbol.dispose]();
        for (const use of one?.uses ?? []) use.gone = true;
      }
      assert.deepEqual(KEYS.map((key) => quota.used(key)), KEYS.map((key) => usesOf(key).length));
      assert.equal(quota.highest(), Math.max(...KEYS.map((key) => usesOf(key).length)));
    }
    for (const { permit } of held) permit[Symbol.dispose]();
    if (period === undefined) assert.equal(quota.size, 0, "nothing is kept of what is given back");
  }));
});

Deno.test("a key is counted anew after its period, or when the clock was set back", () => {
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
  assert.equal(quota.used("a"), 1, "what an earlier period gives back counts nowhere");
  now = 50;
  assert.equal(quota.used("a"), 0);
});

Deno.test("a quota forgets the key whose period began first", () => {
  const quota = new Quota({ period: 100, maxKeys: 2, clock: () => 0 });
  for (const key of ["a", "b", "a", "c"]) quota.take(key);
  assert.deepEqual(KEYS.map((key) => quota.used(key)), [0, 1, 1]);
});
