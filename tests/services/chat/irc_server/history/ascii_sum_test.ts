import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { encodeAscii } from "../../../../../services/chat/irc_server/history/journal.ts";
import { anyCharacter } from "../../../../support/any_character.ts";

Deno.test("a text of ASCII gets the bytes and the sum that the runtime gives it, and no other does", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary-ascii", maxLength: 1000, size: "max" }),
    fc.string({ unit: anyCharacter, maxLength: 20 }),
  );
  fc.assert(fc.property(text, (text) => {
    const expected = new TextEncoder().encode(text);
    const bytes = new Uint8Array(text.length);
    const isAscii = expected.length === text.length;
    assert.equal(encodeAscii(text, bytes), isAscii ? crc32(expected) : null);
    if (isAscii) assert.deepEqual(bytes, expected);
  }));
});
