import assert from "node:assert/strict";
import fc from "fast-check";
import { firstIndex } from "../../../services/kernel/first_index.ts";

Deno.test("the first index is the one that a look at each index finds", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.nat(20), fc.nat(5), (numbers, limit, start) => {
      const sorted = numbers.toSorted((a, b) => a - b);
      const from = Math.min(start, sorted.length);
      const expected = sorted.findIndex((number, index) => index >= from && number >= limit);
      assert.equal(
        firstIndex(sorted.length, (index) => sorted[index]! >= limit, from),
        expected < 0 ? sorted.length : expected,
      );
    }),
  );
});
