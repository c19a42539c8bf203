import assert from "node:assert/strict";
import { HeldBytes, PART_BYTES } from "../../../services/kernel/held_bytes.ts";

const LENGTH = 2 * PART_BYTES + 100;

/** Bytes that differ from part to part. */
function someBytes(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(LENGTH).map((_, index) => index % 251);
}

Deno.test("a stream has all bytes of its range, in parts that belong to the reader", async () => {
  const held = new HeldBytes(someBytes());
  const whole = someBytes();
  for (const [start, end] of [[0, LENGTH], [7, LENGTH - 1], [3, 3], [5, 5 + PART_BYTES]] as const) {
    const parts = await Array.fromAsync(held.stream(start, end));
    assert.ok(parts.every(({ length }) => length > 0 && length <= PART_BYTES));
    const read = new Uint8Array(await new Blob(parts).arrayBuffer());
    assert.deepEqual(read, whole.slice(start, end));
    for (const { buffer } of parts) buffer.transfer(0);
  }
  assert.deepEqual(held.bytes, whole);
});

Deno.test("bytes give back their memory when the last one lets them go", async () => {
  const bytes = someBytes();
  const held = new HeldBytes(bytes);
  const [read, cancelled] = [held.stream(), held.stream()];
  held.letGo();
  assert.equal(bytes.length, LENGTH);
  await cancelled.cancel();
  assert.equal(bytes.length, LENGTH);
  const parts = await Array.fromAsync(read);
  assert.equal(parts.reduce((sum, { length }) => sum + length, 0), LENGTH);
  assert.equal(bytes.length, 0);
  assert.throws(() => held.bytes, RangeError);
});
