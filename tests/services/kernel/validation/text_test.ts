import assert from "node:assert/strict";
import fc from "fast-check";
import { z } from "zod";
import {
  lineSchema,
  longTextSchema,
  paragraphSchema,
  textSchema,
} from "../../../../services/kernel/validation/schemas.ts";
import { isLine, isVisible } from "../../../../services/kernel/words.ts";
import { anyCharacter } from "../../../support/any_character.ts";

for (
  const [name, schema] of Object.entries({
    textSchema: textSchema(0, 9),
    lineSchema: lineSchema(0, 9),
  })
) {
  Deno.test(`${name}() documents a pattern that takes all that it takes`, () => {
    const { pattern = "" } = z.toJSONSchema(schema) as { pattern?: string };
    const characters = fc.oneof(
      fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code)),
      fc.integer({ min: 0x2000, max: 0x2070 }).map((code) => String.fromCharCode(code)),
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
    );
    for (const flags of ["", "u"]) {
      const documented = new RegExp(pattern, flags);
      fc.assert(
        fc.property(fc.array(characters, { maxLength: 5 }), (parts) => {
          const text = parts.join("");
          // The server also refuses what no pattern for every engine can say.
          if (schema.safeParse(text).success) assert.match(text, documented);
          else if (isLine(text) && (isVisible(text) || text.trim() === "")) {
            assert.doesNotMatch(text, documented);
          }
        }),
      );
    }
  });
}

Deno.test("a line cannot pass for another text", () => {
  for (
    const code of ["\r\n", "\0", "\x1b", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\ufeff"]
  ) {
    assert.equal(isLine(`a${code}b`), false, JSON.stringify(code));
  }
  for (const text of ["", "Zürich", "שלום\u200f", "می‌خواهم", "👩‍💻", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]) {
    assert.equal(isLine(text), true, text);
  }
});

Deno.test("half of a surrogate pair is refused, because only whole characters can be stored", () => {
  const schemas = [textSchema(0, 9), lineSchema(0, 9), longTextSchema(9), paragraphSchema(9)];
  for (const schema of schemas) {
    for (const half of ["a\ud83d", "\udc69a"]) {
      const [issue] = schema.safeParse(half).error?.issues ?? [];
      assert.match(issue?.message ?? "", /half of a surrogate pair/, JSON.stringify(half));
    }
    assert.equal(schema.safeParse("👩‍💻").success, true);
  }
});

const UNSEEN = ["\u200d", "\u200c\u200d", "\u00ad", "\u3164", "\u115f\u1160", "\ufe0f", "\u2800"];

Deno.test("a name that shows nothing is none", () => {
  const invisible = [...UNSEEN, "\u{e0041}", "\u034f", "\u180e", "\u200e", "\u{e01ef}"];
  for (const text of [...invisible, ...invisible.map((one) => ` ${one}\u00a0`)]) {
    assert.equal(isVisible(text), false, JSON.stringify(text));
    for (const schema of [lineSchema(0, 9), lineSchema(1, 9), paragraphSchema(9)]) {
      assert.equal(schema.safeParse(text).success, false, JSON.stringify(text));
    }
  }
  for (const text of ["a", ".", "\u200da", "é", "\u0301", "👩‍💻", "می‌خواهم", "\ue000", "日"]) {
    assert.equal(lineSchema(1, 9).safeParse(text).success, true, JSON.stringify(text));
  }
  assert.equal(lineSchema(0, 9).safeParse(" ").success, true);
  assert.equal(lineSchema(1, 9).safeParse(" ").success, false);
});
