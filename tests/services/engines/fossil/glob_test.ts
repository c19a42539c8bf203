import assert from "node:assert/strict";
import { matchesGlob } from "../../../../services/engines/fossil/mod.ts";

Deno.test("a pattern matches branches as SQLite's GLOB does", () => {
  const table: [pattern: string, text: string, fits: boolean][] = [
    ["trunk", "trunk", true],
    ["trunk", "trunk2", false],
    ["Trunk", "trunk", false],
    ["*", "", true],
    ["release/*", "release/1.0/fix", true],
    ["release/*", "release", false],
    ["*-stable", "1-stable-stable", true],
    ["v?", "v1", true],
    ["v?", "v", false],
    ["v?", "v𝟙", true],
    ["v[0-9]*", "v1.2", true],
    ["v[^0-9]", "v1", false],
    ["v[^0-9]", "vx", true],
    ["a[]]", "a]", true],
    ["a[b", "a[b", true],
    ["a.c", "abc", false],
  ];
  for (const [pattern, text, fits] of table) {
    assert.equal(matchesGlob(pattern, text), fits, `${pattern} ${text}`);
  }
  assert.equal(matchesGlob(`${"a*".repeat(100)}b`, "a".repeat(5000)), false);
});
