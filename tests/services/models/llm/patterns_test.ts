import assert from "node:assert/strict";
import fc from "fast-check";
import { isAllowed, matchesPattern } from "../../../../services/models/llm/patterns.ts";

/** The same by a regular expression, which is safe here because the texts are short. */
function byExpression(pattern: string, text: string): boolean {
  const source = [...pattern].map((symbol) =>
    symbol === "*" ? ".*" : symbol === "?" ? "." : `\\u{${symbol.codePointAt(0)?.toString(16)}}`
  ).join("");
  return new RegExp(`^${source}$`, "us").test(text);
}

Deno.test("a pattern matches the names that it describes", () => {
  const symbol = fc.constantFrom("a", "b", "*", "?", ".", "[", "/");
  const word = fc.string({ unit: symbol, maxLength: 8 });
  fc.assert(fc.property(word, word, (pattern, text) => {
    assert.equal(matchesPattern(pattern, text), byExpression(pattern, text));
  }));
});

Deno.test("a hostile pattern costs no more than its length times the text's", () => {
  const pattern = `${"*a".repeat(128)}b`;
  assert.equal(matchesPattern(pattern, "a".repeat(100_000)), false);
});

Deno.test("block wins over allow, and empty lists allow everything", () => {
  const table: readonly (readonly [string[], string[], boolean])[] = [
    [[], [], true],
    [["gpt-*"], [], true],
    [["claude-*"], [], false],
    [["claude-*", "gpt-?"], [], true],
    [[], ["gpt-*"], false],
    [["gpt-5"], ["*5"], false],
    [["GPT-5"], [], false],
  ];
  for (const [allow, block, expected] of table) {
    assert.equal(isAllowed("gpt-5", { allow, block }), expected, JSON.stringify([allow, block]));
  }
});
