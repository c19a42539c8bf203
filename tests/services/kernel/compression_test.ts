import assert from "node:assert/strict";
import { inflateSync } from "node:zlib";
import {
  compressed,
  compressedDelta,
  compressedIfWorthwhile,
} from "../../../services/kernel/compression.ts";
import { Random } from "../engines/fossil/support/random.ts";

Deno.test("compressed bytes inflate to the same bytes, at any length", () => {
  const random = new Random(1);
  for (const length of [0, 1, 100, 200, 201, 1024, 1025, 70_000]) {
    for (const values of [2, 256]) {
      const bytes = Uint8Array.from({ length }, () => random.below(values));
      for (const compress of [compressed, compressedDelta, compressedIfWorthwhile]) {
        assert.deepEqual(new Uint8Array(inflateSync(compress(bytes))), bytes);
      }
    }
  }
});
