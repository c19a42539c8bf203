import assert from "node:assert/strict";
import fc from "fast-check";
import {
  applyDelta,
  compareUtf8,
  createDelta,
  deltaTargetLength,
  encodeUtf8,
  escapeToken,
  formatDate,
  FossilError,
  packBlob,
  parseDate,
  toJulianDay,
  unescapeToken,
  unpackBlob,
} from "../../../../services/engines/fossil/mod.ts";
import { joinBytes } from "../../../../services/engines/fossil/codec/mod.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";
import { judged } from "./support/judges.ts";
import { Scratch } from "./support/fossil.ts";
import { anyCharacter } from "../../../support/any_character.ts";

/** Two byte strings that have much in common: pieces of one are moved, dropped and changed. */
const related = fc.tuple(
  fc.uint8Array({ maxLength: 200 }),
  fc.array(fc.tuple(fc.nat(40), fc.nat(40), fc.uint8Array({ maxLength: 12 })), { maxLength: 12 }),
).map(([seed, edits]) => {
  const source = repeat(seed, 8);
  const pieces = edits.map(([start, length, text]) => [
    ...source.subarray(start * 20, (start + length) * 20),
    ...text,
  ]);
  return { source, target: new Uint8Array(pieces.flat()) };
});

function repeat(seed: Uint8Array, times: number): Uint8Array {
  const bytes = new Uint8Array(seed.length * times);
  for (let i = 0; i < times; i++) {
    bytes.set(seed.map((byte) => byte + i * (i % 3)), i * seed.length);
  }
  return bytes;
}

function isFossilError(error: unknown): boolean {
  return error instanceof FossilError && ["corrupt", "limit"].includes(error.code);
}

Deno.test("createDelta() and applyDelta() are inverse", () => {
  fc.assert(fc.property(related, ({ source, target }) => {
    const delta = createDelta(source, target);
    assert.equal(deltaTargetLength(delta), target.length);
    assert.deepEqual(applyDelta(source, delta), target);
  }));
});

Deno.test("applyDelta() refuses malformed deltas", () => {
  const change = fc.tuple(fc.nat(), fc.nat(255));
  fc.assert(
    fc.property(related, fc.array(change, { minLength: 1 }), ({ source, target }, edits) => {
      const delta = createDelta(source, target);
      for (const [at, byte] of edits) delta[at % delta.length] = byte;
      try {
        assert.ok(applyDelta(source, delta, 100_000).length <= 100_000);
      } catch (error) {
        assert.ok(isFossilError(error), String(error));
      }
    }),
  );
});

Deno.test("applyDelta() refuses a delta that declares too much before it allocates", () => {
  const bomb = encodeUtf8("3~~~~~\n3~~~~~@0,0;");
  assert.throws(() => applyDelta(new Uint8Array(9), bomb, 1000), { code: "limit" });
  assert.throws(() => applyDelta(new Uint8Array(9), encodeUtf8("~~~~~~~~\n0;")), isFossilError);
  assert.throws(() => applyDelta(new Uint8Array(9), encodeUtf8("")), isFossilError);
  assert.throws(() => applyDelta(new Uint8Array(9), encodeUtf8("4\n4@6,0;")), { code: "corrupt" });
});

judged(
  "fossil applies what createDelta() writes, and it is hardly longer than its own",
  (program) => {
    using scratch = new Scratch(program);
    const samples = [...fc.sample(related, { numRuns: 40, seed: 7 }), largeSample()];
    for (const { source, target } of samples) {
      const args = [scratch.write("source", source), scratch.write("target", target)];
      scratch.fossil(["test-delta-create", ...args, scratch.path("delta")]);
      const own = Deno.statSync(scratch.path("delta")).size;
      const delta = createDelta(source, target);
      assert.ok(delta.length <= 100 + own * 1.2, `${delta.length} and ${own} bytes`);
      const files = [args[0]!, scratch.write("delta", delta), scratch.path("result")];
      scratch.fossil(["test-delta-apply", ...files]);
      assert.deepEqual(Deno.readFileSync(scratch.path("result")), target);
    }
  },
);

/** Text with runs that repeat more often than candidates are looked at, and signed bytes. */
function largeSample(): { source: Uint8Array; target: Uint8Array } {
  const lines = Array.from({ length: 4000 }, (_, i) => `${i % 7} línea ${i % 300} — ${i % 11}\n`);
  const source = encodeUtf8(lines.join(""));
  const target = encodeUtf8(lines.filter((_, i) => i % 13 !== 0).toReversed().join("x"));
  return { source, target };
}

Deno.test("packBlob() and unpackBlob() are inverse", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 5000 }), (content) => {
    assert.deepEqual(unpackBlob(packBlob(content)), content);
  }));
  const empty = [0, 0, 0, 0, 0x78, 1, 1, 0, 0, 0xff, 0xff, 0, 0, 0, 1];
  assert.deepEqual([...packBlob(new Uint8Array(0))], empty);
});

Deno.test("unpackBlob() refuses a blob with a wrong size", () => {
  const packed = packBlob(new Uint8Array(1_000_000));
  assert.throws(() => unpackBlob(packed, 1000), { code: "limit" });
  const view = new DataView(packed.buffer);
  view.setUint32(0, 1000);
  assert.throws(() => unpackBlob(packed), { code: "corrupt" });
  view.setUint32(0, 2_000_000);
  assert.throws(() => unpackBlob(packed), { code: "corrupt" });
  assert.throws(() => unpackBlob(packed.subarray(0, 20)), { code: "corrupt" });
});

Deno.test("compareUtf8() is the order of UTF-8 bytes", () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 6 });
  const close = fc.constantFrom("a", "\ud83d\ude00", "\ue000", "\uffff", "\ud7ff", "ab", "");
  fc.assert(fc.property(fc.oneof(text, close), fc.oneof(text, close), (left, right) => {
    const expected = compareBytes(encodeUtf8(left), encodeUtf8(right));
    assert.equal(Math.sign(compareUtf8(left, right)), expected);
  }));
});

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i] !== right[i]) return Math.sign(left[i]! - right[i]!);
  }
  return Math.sign(left.length - right.length);
}

Deno.test("escapeToken() makes one token and unescapeToken() reads it back", () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => {
    const token = escapeToken(text);
    assert.doesNotMatch(token, /\s*[ \n\t\r\v\f\0]/);
    const nul = text.indexOf("\0");
    assert.equal(unescapeToken(token), nul < 0 ? text : text.slice(0, nul));
  }));
});

Deno.test("dates are those of SQLite", () => {
  const moment = fc.integer({ min: Date.UTC(1900), max: Date.UTC(2200) });
  fc.assert(fc.property(moment, (ms) => assert.equal(parseDate(formatDate(ms)), ms)));
  assert.equal(toJulianDay(Date.UTC(2000, 0, 1, 12)), 2451545);
  assert.equal(parseDate("2026-02-30"), Date.UTC(2026, 2, 2));
  assert.equal(parseDate("2026-01-02T03:04"), Date.UTC(2026, 0, 2, 3, 4));
  assert.equal(parseDate("2026-01-02T03:04:05+01:00"), Date.UTC(2026, 0, 2, 2, 4, 5));
  for (const text of ["", "now", "2026", "2026-13-01", "2026-01-02T25:00", "2026-01-02T03:04:60"]) {
    assert.equal(parseDate(text), null, text);
  }
});

Deno.test("createDelta() finds what is moved", () => {
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const [one, two, three] = [random(20_000), random(20_000), random(100)];
  const source = joinBytes([one, two]);
  const target = joinBytes([two, three, one]);
  const delta = createDelta(source, target);
  assert.deepEqual(applyDelta(source, delta), target);
  assert.ok(delta.length < 200, `${delta.length} bytes`);
});

Deno.test("a delta between contents that have nothing in common takes linear time", () => {
  const noise = (seed: number) => {
    const bytes = new Uint8Array(1024 * 1024);
    for (let at = 0, state = seed; at < bytes.length; at++) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      bytes[at] = state >>> 24;
    }
    return bytes;
  };
  const [one, other] = [noise(1), noise(2)];
  const text = encodeUtf8("0123,4567\n".repeat(100_000));
  const time = cpuTimeOf(() => {
    for (const [source, target] of [[one, other], [one, text], [text, other]] as const) {
      createDelta(source, target);
    }
  });
  assert.ok(time < 1500, `${time} ms`);
});
