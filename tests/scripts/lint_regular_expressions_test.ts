import assert from "node:assert/strict";
import plugin from "../../scripts/lint/regular_expressions.ts";

function isRefused(source: string, path = "services/a.ts"): boolean {
  const [found] = Deno.lint.runPlugin(plugin, path, source);
  return found?.id === "regular-expressions/linear";
}

Deno.test("regular expressions that backtrack are refused", () => {
  const refused = [
    // A run that may begin anywhere and must end somewhere.
    String.raw`/\/+$/`,
    String.raw`/\s+\n/g`,
    String.raw`/(\d+)\.(\d+)/`,
    String.raw`/[^\n]*\n|[^\n]+$/g`,
    // A run that contains its own opener.
    String.raw`/<[^>]*>/g`,
    String.raw`/\[(?:[^\]|]*\|)?([^\]|]*)\]/g`,
    String.raw`/<!--[^]*?-->/`,
    String.raw`/<i>.*?<\/i>/`,
    // Two parts that share a text.
    String.raw`/^\s*(a)?\s*$/`,
    String.raw`/^(.+) b\/(.+)$/`,
    String.raw`/^[ \t]+(.*)$/`,
    String.raw`/^([^=]+?)\s*=\s*(.*)$/`,
    String.raw`/\beyJ[\w-]{10,2000}\.eyJ/`,
    // Alternatives that overlap.
    String.raw`/^(?:a|a)*$/`,
    String.raw`/^(a+)+$/`,
    String.raw`/^(?:a|ab|b){1,20}c/`,
    // Bounded repetitions of which each chooses how long it is.
    String.raw`/^(?:a?){30}a{30}$/`,
    String.raw`/^(?:a{0,100}){0,100}b/`,
    // A long text that is read backwards at each character.
    String.raw`/(?<=a+)b$/`,
    String.raw`/(?<!x.*)y/`,
    // Strings that become regular expressions.
    'const x = RegExp("a+$");',
    '"x".match("a+$");',
    '"x".search("a+$");',
    'function f() { const end = "a+$"; return new RegExp(end); }',
    "new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`)",
    'const GAP = "(?:\\\\s|\\\\s\\\\s)"; const x = new RegExp(`^${GAP}*$`);',
  ];
  for (const source of refused) assert.ok(isRefused(source), source);
});

Deno.test("regular expressions of linear time are not refused", () => {
  const allowed = [
    String.raw`/(?<!\/)\/+$/`,
    String.raw`/^\/+|(?<!\/)\/+$/g`,
    String.raw`/(?<!\d)(\d+)\.(\d+)/`,
    String.raw`/[^\n]+\n?|\n/g`,
    String.raw`/<[^<>]*>/g`,
    String.raw`/\[(?:[^[\]|]*\|)?([^[\]|]*)\]/g`,
    String.raw`/^\s+/`,
    String.raw`/\s+/g`,
    String.raw`/^([^=]+)=(.*)$/`,
    String.raw`/^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*$/`,
    String.raw`/\beyJ[\w-]{10,300}\.eyJ/`,
    String.raw`/^(?:\d{1,9}[smhdw])+$/`,
    "/[ ]+x/y",
    String.raw`/^(?:[0-9a-f]{1,4}:){1,7}:$/`,
    String.raw`/^(?:.|\n)*x/`,
    String.raw`/"[^"]*"/`,
    'index.search("a b");',
    "new RegExp(`(?:^|;) *${name}=([0-9a-f]+)`)",
  ];
  for (const source of allowed) assert.ok(!isRefused(source), source);
  assert.ok(!isRefused(String.raw`/\/+$/`, "tests/a.ts"));
});
