/** The reader of packs, with packs of any entries, and with any bytes. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import {
  applyDelta,
  DeltaWriter,
  type EntryForm,
  GitError,
  OBJECT_KINDS,
  type PackEntry,
  PackWriter,
  readPack,
} from "../../../../services/engines/git/mod.ts";

const MAX_BYTES = 1_000_000;

interface Entry {
  readonly form: EntryForm;
  readonly content: Uint8Array;
}

function packOf(entries: readonly Entry[]): Buffer {
  const pieces: Buffer[] = [];
  const writer = new PackWriter(entries.length, (piece) => pieces.push(Buffer.from(piece)));
  for (const { form, content } of entries) writer.entry(form, content.length, deflateSync(content));
  writer.finish();
  return Buffer.concat(pieces);
}

/** An entry with its bytes as text. */
function shown({ form, content }: Entry) {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  return {
    form: "baseName" in form ? { baseName: text(form.baseName) } : form,
    content: text(content),
  };
}

/** Reads a pack from memory, so many bytes at a time. */
function read(pack: Uint8Array, step = Infinity): PackEntry[] {
  const entries: PackEntry[] = [];
  const source = {
    length: pack.length,
    maxEntries: 1000,
    maxBytes: MAX_BYTES,
    read(at: number, into: Uint8Array) {
      const part = pack.subarray(at, at + Math.min(into.length, step));
      into.set(part);
      return part.length;
    },
  };
  for (const { content, ...entry } of readPack(source)) {
    entries.push({ ...entry, content: Uint8Array.from(content) });
  }
  return entries;
}

/** Reads bytes that may be anything: they are a pack, or refused. */
function readAny(bytes: Uint8Array): void {
  try {
    read(bytes);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
  }
}

const entry: fc.Arbitrary<Entry> = fc.record({
  form: fc.oneof(
    fc.constantFrom(...OBJECT_KINDS).map((kind): EntryForm => ({ kind })),
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map((baseName): EntryForm => ({ baseName })),
    fc.constant<EntryForm>({ baseOffset: 0 }),
  ),
  content: fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.integer({ min: 0, max: 300_000 }).map((length) => new Uint8Array(length).fill(7)),
  ),
});

const entries = fc.array(entry, { maxLength: 12 });

Deno.test("what is written into a pack is read from it, however it arrives", () => {
  fc.assert(
    fc.property(entries, fc.integer({ min: 1, max: 5000 }), (made, step) => {
      const found = read(packOf(made), step);
      assert.deepEqual(found.map(shown), made.map(shown));
    }),
    { numRuns: 60 },
  );
});

Deno.test("a pack with any fault is refused, and nothing else happens", () => {
  const fault = fc.record({
    kind: fc.constantFrom("flip", "cut", "insert", "repeat"),
    place: fc.nat(),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 30 }),
  });
  fc.assert(
    fc.property(entries, fc.array(fault, { minLength: 1, maxLength: 3 }), (made, faults) => {
      let bytes = packOf(made);
      for (const { kind, place, bytes: more } of faults) {
        const at = place % (bytes.length + 1);
        const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
        if (kind === "flip" && at < bytes.length) bytes[at]! ^= more[0]! | 1;
        else if (kind === "cut") bytes = Buffer.from(before);
        else if (kind === "insert") bytes = Buffer.concat([before, more, after]);
        else if (kind === "repeat") bytes = Buffer.concat([before, after, after]);
      }
      readAny(bytes);
    }),
    { numRuns: 400 },
  );
});

Deno.test("any bytes are refused, with and without the head of a pack", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 5 }), (bytes, count) => {
      readAny(bytes);
      const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
      head.writeUInt32BE(count, 8);
      readAny(Buffer.concat([head, bytes]));
    }),
    { numRuns: 400 },
  );
});

Deno.test("a delta gives back what it was made of; any other bytes are refused or give as much", () => {
  const part = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.tuple(fc.nat({ max: 1000 }), fc.nat({ max: 1000 })),
  );
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 1000 }),
      fc.array(part, { maxLength: 10 }),
      fc.uint8Array({ maxLength: 60 }),
      (base, parts, noise) => {
        const pieces = parts.map((one) =>
          one instanceof Uint8Array
            ? one
            : base.subarray(Math.min(...one) % base.length, Math.max(...one) % base.length)
        );
        const result = Buffer.concat(pieces);
        const writer = new DeltaWriter({ base: base.length, result: result.length });
        for (const [at, one] of parts.entries()) {
          if (one instanceof Uint8Array) writer.insert(one);
          else {
            const start = Math.min(...one) % base.length;
            writer.copy(start, start + pieces[at]!.length);
          }
        }
        assert.deepEqual(Buffer.from(applyDelta(base, writer.finish(), MAX_BYTES)), result);
        try {
          assert.ok(applyDelta(base, noise, MAX_BYTES).length <= MAX_BYTES);
        } catch (error) {
          if (!(error instanceof GitError)) throw error;
        }
      },
    ),
    { numRuns: 200 },
  );
});
