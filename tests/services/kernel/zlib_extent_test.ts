import assert from "node:assert/strict";
import { constants, deflateSync } from "node:zlib";
import fc from "fast-check";
import { InflateError, inflateFirst, zlibExtent } from "../../../services/kernel/zlib_extent.ts";

const contents = fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(200)), {
  maxLength: 9,
}).map((pieces) =>
  new Uint8Array(
    pieces.flatMap(([seed, times]) => Array.from({ length: times }, () => [...seed]).flat()),
  )
);
const options = fc.record({
  level: fc.constantFrom(0, 1, 6, 9),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_RLE,
    constants.Z_FIXED,
  ),
});
const rests = fc.uint8Array({ maxLength: 40 });

Deno.test("zlibExtent() tells the length and the end of a stream, and stops at its limit", () => {
  fc.assert(fc.property(contents, options, rests, (content, option, rest) => {
    const stream = deflateSync(content, option);
    const bytes = new Uint8Array([...stream, ...rest]);
    assert.deepEqual(zlibExtent(bytes, Infinity), { length: content.length, end: stream.length });
    if (content.length > 1) {
      assert.ok(zlibExtent(bytes, content.length / 2).length * 2 > content.length);
    }
  }));
  const bomb = deflateSync(new Uint8Array(30_000_000));
  assert.ok(zlibExtent(bomb, 1000).length < 2000);
});

Deno.test("zlibExtent() refuses malformed streams", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 2, maxLength: 200 }), (bytes) => {
    try {
      assert.ok(zlibExtent(bytes, 1_000_000).length < 1_100_000);
    } catch (error) {
      assert.ok(error instanceof InflateError);
    }
  }));
});

for (const isMeasured of [true, false]) {
  Deno.test(`inflateFirst() inflates one of several streams, ${isMeasured ? "" : "not "}measured before`, () => {
    fc.assert(fc.property(contents, options, rests, fc.nat(), (content, option, rest, at) => {
      const stream = deflateSync(content, option);
      const bytes = new Uint8Array([...stream, ...rest]);
      const first = inflateFirst(bytes, content.length, isMeasured);
      assert.ok(first !== null);
      assert.deepEqual(new Uint8Array(first.content), content);
      assert.equal(first.end, stream.length);
      if (content.length > 0) {
        assert.equal(inflateFirst(bytes, content.length - 1, isMeasured), null);
      }
      assert.throws(
        () => inflateFirst(stream.subarray(0, at % stream.length), content.length, isMeasured),
        { name: "InflateError", isCutShort: true },
      );
    }));
  });
}
