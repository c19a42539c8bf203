/**
 * Feeds random and mutated bytes to the way from bytes to messages. Run by the tests with few
 * inputs, and by hand with many: `deno run -P=test tests/services/engines/irc/fuzz_message.ts 1000000`.
 */

import assert from "node:assert/strict";
import { LineBuffer } from "../../../../services/engines/irc/transport/line_buffer.ts";
import { formatMessage, parseMessage } from "../../../../services/engines/irc/protocol/message.ts";

/** What a line buffer may hold. */
const LIMIT = 1024;

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossyDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

const SEEDS = [
  "@time=2026-01-01T00:00:00.000Z;+draft/reply=a\\:b :nick!user@host PRIVMSG #c :hello there\r\n",
  "CAP REQ :sasl message-tags\r\nNICK a\r\nUSER a 0 * :b\r\n",
  ":\r\n@\r\n@a\r\n: :\r\n@ : \0\r\n   \r\n\r\r\n",
  "MODE #c +ovb-l a b *!*@* \u{1f600}\r\n",
  "PRIVMSG a :\u{e9}\r\n@+b=\u{1f600} TAGMSG c\nPRIVMSG d :e\r\nPRIVMSG f :\u{1f600}",
].map((seed) => encoder.encode(seed));

/**
 * Throws when an input makes the parser throw, when a message that it found does not survive being
 * written and read again, or when the buffer keeps more than it may. The same seed gives the same
 * inputs.
 */
export function fuzzMessages(inputs: number, seed: number): void {
  const random = randomNumbers(seed);
  let buffer = new LineBuffer(LIMIT);
  for (let count = 0; count < inputs; count++) {
    buffer.append(randomInput(random));
    while (buffer.next()) {
      checkLine(buffer);
      // A text depends on its line alone, not on what came with it.
      assert.equal(buffer.text, decode(buffer.line));
    }
    if (!buffer.settle()) buffer = new LineBuffer(LIMIT);
    assert.ok(buffer.length <= LIMIT);
  }
}

function decode(line: Uint8Array): string | null {
  try {
    return strictDecoder.decode(line);
  } catch {
    return null;
  }
}

function checkLine({ line, lineLength, tagLength }: LineBuffer): void {
  assert.equal(lineLength, line.length);
  const tags = /^@[^ ]* ?/.exec(String.fromCharCode(...line))?.[0] ?? "";
  assert.equal(tagLength, tags.length);
  const message = parseMessage(lossyDecoder.decode(line));
  if (message) assert.deepEqual(parseMessage(formatMessage(message)), message);
}

function randomInput(random: () => number): Uint8Array {
  const source = SEEDS[random() % SEEDS.length] as Uint8Array;
  const bytes = random() % 4 === 0
    ? Uint8Array.from({ length: random() % 64 }, () => random())
    : source.slice(random() % 8, source.length - (random() % 8));
  for (let changes = random() % 4; changes > 0 && bytes.length > 0; changes--) {
    bytes[random() % bytes.length] = random() % 3 === 0 ? 0x20 : random();
  }
  return bytes;
}

/** Mulberry32: small, repeatable, good enough to find holes. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

if (import.meta.main) {
  const inputs = Number(Deno.args[0] ?? 1_000_000);
  const before = Deno.memoryUsage().rss;
  const start = performance.now();
  fuzzMessages(inputs, Number(Deno.args[1] ?? Date.now()));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const grown = ((Deno.memoryUsage().rss - before) / 2 ** 20).toFixed(1);
  Deno.stdout.writeSync(encoder.encode(`${inputs} inputs, ${seconds} s, memory +${grown} MiB\n`));
}
