import assert from "node:assert/strict";
import fc from "fast-check";
import { flatTexts } from "../../routes/flat_texts.ts";

Deno.test("flat texts are those that JSON.parse finds, or none", () => {
  const piece = fc.constantFrom(
    ...'{}[]:,"\\ \n\u0000\u007f',
    '"text"',
    '"nick"',
    '"a":"b"',
    '{"text":"hi"',
    "\\u0041",
    "null",
    "grüße 🎺",
  );
  const written = fc.array(piece, { maxLength: 12, size: "max" }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(written, (json) => {
      const texts = flatTexts(json);
      if (texts === null) return;
      const parsed: Record<string, string> = JSON.parse(json);
      const found = new Map<string, string>();
      for (let at = 0; at < texts.length; at += 2) found.set(texts[at] ?? "", texts[at + 1] ?? "");
      assert.deepEqual(found, new Map(Object.entries(parsed)));
    }),
    { numRuns: 5000 },
  );
});

Deno.test("objects of texts without escapes are flat, with and without spaces", () => {
  const value = fc.string({ unit: "grapheme" })
    .filter((text) => JSON.stringify(text) === `"${text}"`);
  fc.assert(fc.property(value, value, (nick, text) => {
    const json = JSON.stringify({ nick, text });
    assert.deepEqual(flatTexts(json), ["nick", nick, "text", text]);
    assert.deepEqual(flatTexts(`{"nick": "${nick}", "text": "${text}"}`), flatTexts(json));
  }));
  for (const other of ["", "{", "{}", "[]", '"a"', '{"a":1}', '{"a":"b"} ', '{"a":"\\n"}']) {
    assert.equal(flatTexts(other), null, other);
  }
});
