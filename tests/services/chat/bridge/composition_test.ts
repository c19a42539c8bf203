import fc from "fast-check";
import assert from "node:assert/strict";
import { byteLength, linesOf, splitLine } from "../../../../services/chat/bridge/composition.ts";
import { Invalid, TooLarge } from "../../../../services/kernel/errors.ts";

/** Lines of words, of one to four bytes per character. */
const lines = fc.array(
  fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "b", " "), maxLength: 40 }),
  { maxLength: 20 },
).map((words) => words.join(" "));

Deno.test("splitLine() returns pieces that fit, and drops only spaces", () => {
  fc.assert(fc.property(lines, fc.integer({ min: 4, max: 64 }), (line, room) => {
    const pieces = splitLine(line, room);
    for (const piece of pieces) {
      assert.ok(byteLength(piece) <= room);
      assert.ok(piece.isWellFormed());
    }
    assert.equal(pieces.join("").replaceAll(" ", ""), line.replaceAll(" ", ""));
  }));
});

Deno.test("splitLine() keeps a line that fits, and cuts others between words if it can", () => {
  assert.deepEqual(splitLine("all of it", 9), ["all of it"]);
  assert.deepEqual(splitLine("one two three", 8), ["one two", "three"]);
  assert.deepEqual(splitLine("one twothreefour", 8), ["one", "twothree", "four"]);
  assert.deepEqual(splitLine("😀😀", 7), ["😀", "😀"]);
});

Deno.test("linesOf() splits a text and drops blank lines", () => {
  assert.deepEqual(linesOf("one"), ["one"]);
  assert.deepEqual(linesOf("one\r\n\n  \ntwo\n"), ["one", "two"]);
  for (const blank of "\u00a0\u3000\u2028\u2029\ufeff\u1680") {
    assert.deepEqual(linesOf(blank), [blank], "no space, but a character that people on IRC see");
  }
  const formatted = "\tred \x0304x\x03 \x02b\x0f \x1di\x1f\x16\x11\x1e\x04ff0000";
  assert.deepEqual(linesOf(formatted), [formatted]);
  assert.equal(linesOf("x\n".repeat(100)).length, 100);
  assert.equal(linesOf("é".repeat(32_768)).length, 1);
});

Deno.test("linesOf() refuses characters that IRC cannot carry", () => {
  const refusals = [
    [/must not be empty/, ["", "\n\n", "  "]],
    [/control characters/, ["a\0b", "a\x01b", "a\rb", "a\x7f", "a\x85b"]],
    [/well-formed Unicode: it has half of a surrogate pair/, ["a\ud800", "\udc00b\nc", "\ud800\0"]],
  ] as const;
  for (const [reason, texts] of refusals) {
    for (const text of texts) {
      assert.throws(
        () => linesOf(text),
        (error) => error instanceof Invalid && reason.test(error.message),
        JSON.stringify(text),
      );
    }
  }
  assert.throws(() => linesOf("x\n".repeat(101)), TooLarge);
  assert.throws(() => linesOf("é".repeat(32_769)), TooLarge);
});
