import assert from "node:assert/strict";
import fc from "fast-check";
import { loadHighlighter } from "../../../../services/engines/markup/fences.ts";
import { languageOf } from "../../../../services/engines/markup/markup.ts";
import { VECTORS } from "./vectors.ts";
import { anyCharacter } from "../../../support/any_character.ts";

const highlight = await loadHighlighter();
const LANGUAGES = ["typescript", "xml", "markdown", "css", "bash", "json", "php", "diff"];

/** The code that a browser shows: without the marks of syntax, its entities decoded. */
function shown(html: string): string {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };
  return html.replace(/<\/?span[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|#x27|#39);/g, (_, name) => entities[name] ?? "'");
}

Deno.test("each line of code stands for itself, also inside of a long comment", () => {
  const lines = highlight("/* one\ntwo */ let x = 1;", "typescript").split("\n");
  assert.equal(lines.length, 2);
  assert.equal(lines[0], '<span class="hljs-comment">/* one</span>');
  assert.match(lines[1] ?? "", /^<span class="hljs-comment">two \*\/<\/span> /);
});

Deno.test("code keeps every character and line, and nothing of it is markup", () => {
  for (const text of VECTORS) {
    for (const language of LANGUAGES) {
      const html = highlight(text, language);
      assert.equal(shown(html), text, `${language}: ${text}`);
      assert.doesNotMatch(html, /<(?!\/?span\b)|<span (?!class="(?:hljs|language)-)/);
    }
  }
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom(...LANGUAGES),
      (text, language) => {
        assert.equal(shown(highlight(text, language)), text);
      },
    ),
    { numRuns: 300, seed: 14 },
  );
});

Deno.test("the name of a file tells its language", () => {
  const cases: [string, string | null][] = [
    ["lib/a.ts", "typescript"],
    ["A.JSON", "json"],
    ["Makefile", "makefile"],
    ["a/b.txt", null],
    ["ts", null],
    ["__proto__", null],
  ];
  for (const [path, language] of cases) assert.equal(languageOf(path), language, path);
});
