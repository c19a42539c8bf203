import assert from "node:assert/strict";
import fc from "fast-check";
import { MessageHead, Outbound } from "../../../../services/engines/irc/outbound.ts";
import { Cap } from "../../../../services/engines/irc/protocol/capabilities.ts";
import { type Wire, WireQueue } from "../../../../services/engines/irc/wire.ts";

const encoder = new TextEncoder();

const CAPABILITIES = [
  0,
  Cap.SERVER_TIME,
  Cap.MESSAGE_TAGS | Cap.ACCOUNT_TAG,
  Cap.MESSAGE_TAGS | Cap.BATCH | Cap.MULTILINE,
];

const phrase = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.constant("long ".repeat(150)),
  fc.constant("ü".repeat(400)),
  fc.constant("one\r\ntwo\0"),
);

/** A message in the form for some capabilities. */
const wire = fc.record({
  target: fc.constantFrom("bob", "#c", "#ä"),
  text: fc.oneof(phrase, fc.array(fc.record({ text: phrase, concat: fc.boolean() }))),
  tag: phrase,
  capabilities: fc.constantFrom(...CAPABILITIES),
}).map(({ target, text, tag, capabilities }): Wire => {
  const head = new MessageHead({ source: "ann!a@h", command: "PRIVMSG", params: [target] });
  const time = "2026-11-26T12:00:00.000Z";
  const tags = { time, msgid: "m1", account: "ann", client: [["+a", tag] as const] };
  return new Outbound({ head, tags, text }).wire(capabilities);
});

/** The bytes of wires, each line encoded on its own. */
function bytesOf(wires: readonly Wire[]): Uint8Array {
  const lines = wires.flatMap(({ lines }) => lines);
  return Uint8Array.from(lines.flatMap((line) => [...encoder.encode(`${line}\r\n`)]));
}

Deno.test("a wire counts for as many bytes as it has", () => {
  fc.assert(fc.property(wire, (one) => {
    assert.equal(one.byteLength, one.bytes.length);
    assert.deepEqual(new Uint8Array(one.bytes), bytesOf([one]));
  }));
});

Deno.test("a stream gets its own lines, even if others get the same", () => {
  const step = fc.record({
    wire: fc.nat(5),
    receivers: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    taking: fc.option(fc.nat(2)),
  });
  const wires = fc.array(wire, { minLength: 6, maxLength: 6 });
  fc.assert(fc.property(wires, fc.array(step), (all, steps) => {
    const streams = Array.from({ length: 3 }, () => new Stream());
    for (const { wire, receivers, taking } of steps) {
      receivers.forEach((receives, index) => {
        if (receives) streams[index]?.add(all[wire] as Wire);
      });
      if (taking !== null) streams[taking]?.take();
    }
    for (const stream of streams) stream.check();
  }));
});

Deno.test("one write has at most 64 KiB, or one wire", () => {
  const queue = new WireQueue();
  const head = new MessageHead({ source: null, command: "NOTICE", params: ["bob"] });
  const tags = { time: "2026-11-26T12:00:00.000Z" };
  const lengths = [30_000, 30_000, 30_000, 100_000, 10];
  for (const length of lengths) {
    queue.add(new Outbound({ head, tags, text: "x".repeat(length) }).wire(Cap.MESSAGE_TAGS));
  }
  const frame = "NOTICE bob :\r\n".length;
  const taken: number[] = [];
  while (!queue.isEmpty) taken.push(queue.take().length);
  assert.deepEqual(taken, [60_000 + 2 * frame, 30_000 + frame, 100_000 + frame, 10 + frame]);
});

/** A queue, what was added to it, and copies of what it gave. */
class Stream {
  readonly #queue = new WireQueue();
  readonly #added: Wire[] = [];
  readonly #taken: { bytes: Uint8Array; copy: Uint8Array }[] = [];

  add(wire: Wire): void {
    this.#queue.add(wire);
    this.#added.push(wire);
  }

  take(): void {
    if (this.#queue.isEmpty) return;
    const { byteLength } = this.#queue;
    const bytes = this.#queue.take();
    this.#taken.push({ bytes, copy: bytes.slice() });
    assert.equal(byteLength - this.#queue.byteLength, bytes.length);
  }

  check(): void {
    while (!this.#queue.isEmpty) this.take();
    assert.equal(this.#queue.byteLength, 0);
    const all = this.#taken.flatMap(({ bytes, copy }) => {
      assert.deepEqual(bytes, copy);
      return [...copy];
    });
    assert.deepEqual(Uint8Array.from(all), bytesOf(this.#added));
  }
}
