import assert from "node:assert/strict";
import {
  isPortable,
  publishPatterns,
} from "../../../../services/kernel/validation/portable_patterns.ts";

Deno.test("a pattern is portable if every engine reads it with one meaning", () => {
  const portable = [
    "^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$",
    "^[^\\x00-\\x1f\\x7f-\\x9f]*$",
    "^(\\*|[a-z]+(\\.[a-z]+)*)$",
    "^[A-Za-z\\[\\]\\\\`_\\^{|}]$",
    "^https?://[^\\x00-\\x20?#@]+$",
  ];
  for (const pattern of portable) {
    assert.ok(isPortable(pattern), pattern);
    new RegExp(pattern);
    new RegExp(pattern, "u");
  }
  const others = [
    ...["^\\P{Cc}*$", "\\S", "^\\d+$", "\\bword\\b", "a.b", "\\u0041", "\\0", "é"],
    ...["(?!x)y", "(?<=x)y", "(?<name>x)", "(?i)x", "(a)\\1", "a+?", "a*+", "a{2}{3}"],
    ...["[a[b]", "[]a]", "[^]", "[a&&b]", "[a--b]", "[a~~b]", "[z-a]", "[a-\\d]", "[[:alpha:]]"],
    ...["[^a]", "[^a]{1,79}", "a{0,1001}", "(?:a{0,63}b){0,49}", "a{3,2}", "a{,3}", "{", "]", "}"],
    ...["(", ")", "(?:a", "a||b", "()", "*", "\\", "[a", "[\\", "a{1"],
  ];
  for (const pattern of others) assert.ok(!isPortable(pattern), pattern);
});

Deno.test("of several patterns a schema keeps its first portable one, and data stay as they are", () => {
  const schema = {
    type: "object",
    properties: {
      line: {
        type: "string",
        pattern: "\\S",
        allOf: [{ pattern: "^\\P{Cc}*$" }, { pattern: "^a" }],
      },
      blank: { type: "string", allOf: [{ pattern: "\\S" }] },
      default: { type: "string", pattern: "\\S" },
      named: { allOf: [{ $ref: "#/x" }, { type: "object" }] },
    },
    example: { pattern: "\\S" },
  };
  publishPatterns(schema);
  assert.deepEqual(schema, {
    type: "object",
    properties: {
      line: { type: "string", pattern: "^a" },
      blank: { type: "string" },
      default: { type: "string" },
      named: { allOf: [{ $ref: "#/x" }, { type: "object" }] },
    },
    example: { pattern: "\\S" },
  } as unknown);
});
