import fc from "fast-check";
import assert from "node:assert/strict";
import { Redactor } from "../../../../services/models/llm/credentials.ts";

const secret = fc.string({ minLength: 8, maxLength: 60, unit: "grapheme-ascii" })
  .filter((text) => !"[removed]".includes(text));

Deno.test("no eight characters of a secret in a row stay in an error", () => {
  const around = fc.string({ maxLength: 20 });
  fc.assert(fc.property(secret, around, around, fc.nat(), fc.nat(), (key, before, after, a, b) => {
    const start = a % (key.length - 7);
    const end = start + 8 + b % (key.length - start - 7);
    const told = new Redactor([key]).error(before + key.slice(start, end) + after);
    for (let index = 0; index + 8 <= key.length; index++) {
      const piece = key.slice(index, index + 8);
      if ("[removed]".includes(piece)) continue;
      assert.ok(!told.replaceAll("[removed]", "\0").includes(piece), told);
    }
  }));
});

Deno.test("a secret is cut out of an answer in every spelling, and the rest stays", () => {
  const key = 'a"b/ü+c=';
  const redactor = new Redactor([key, ""]);
  const text = JSON.stringify({ plain: key, url: `x?key=${encodeURIComponent(key)}`, rest: "ok" });
  assert.equal(redactor.answer(text), '{"plain":"[removed]","url":"x?key=[removed]","rest":"ok"}');
  assert.equal(redactor.error("nothing here"), "nothing here");
});

Deno.test("a secret is cut out of base64 and URLs in any surroundings", () => {
  const around = fc.string({ maxLength: 6, unit: "grapheme-ascii" });
  const spellings: readonly ((text: string) => string)[] = [
    btoa,
    (text) => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
    encodeURIComponent,
    (text) => encodeURIComponent(text).replace(/%../g, (escape) => escape.toLowerCase()),
    (text) => new URLSearchParams({ key: text }).toString(),
  ];
  const long = secret.filter((key) => key.length >= 12);
  fc.assert(
    fc.property(
      long,
      around,
      around,
      fc.constantFrom(...spellings),
      (key, before, after, spell) => {
        const redactor = new Redactor([key]);
        const alone = spell(key);
        for (const told of [redactor.answer(spell(before + key + after)), redactor.error(alone)]) {
          assert.ok(told.includes("[removed]"), told);
          assert.ok(!told.includes(key) && !told.includes(alone), told);
        }
      },
    ),
  );
});
