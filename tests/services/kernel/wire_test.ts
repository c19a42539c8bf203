import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeMessage, messagesOf, sendMessage } from "../../../services/kernel/wire.ts";

/** A connection whose reads give back what was written, in pieces of some length. */
function loop(piece: number) {
  const written: number[] = [];
  let at = 0;
  return {
    write(bytes: Uint8Array): Promise<number> {
      const some = bytes.subarray(0, piece);
      written.push(...some);
      return Promise.resolve(some.length);
    },
    read(buffer: Uint8Array): Promise<number | null> {
      const some = written.slice(at, at + Math.min(piece, buffer.length));
      buffer.set(some);
      at += some.length;
      return Promise.resolve(some.length === 0 ? null : some.length);
    },
  };
}

const bytes = fc.uint8Array({ maxLength: 200 });
const long = fc.nat(9000).map((length) => "ä€𝄞x".repeat(length).slice(0, length));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, "", "\0part", 0, -1.5, NaN, 2n ** 70n),
    fc.string(),
    long,
    bytes,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "\0part", "toJSON"), tie("value")),
  ),
}));

Deno.test("messages between processes arrive as they were sent, one after the other", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(value, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 5000 }),
      async (messages, piece) => {
        const wire = loop(piece);
        for (const message of messages) await sendMessage(wire, encodeMessage({ message }));
        const received: unknown[] = [];
        for await (const one of messagesOf(wire, 1 << 20)) received.push(one);
        assert.deepEqual(received, messages.map((message) => structuredClone({ message })));
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("a message that is nothing but empty bytes has them", async () => {
  const wire = loop(100);
  await sendMessage(wire, encodeMessage({ bytes: new Uint8Array() }));
  for await (const message of messagesOf(wire, 1000)) {
    assert.deepEqual(message, { bytes: new Uint8Array() });
  }
});
