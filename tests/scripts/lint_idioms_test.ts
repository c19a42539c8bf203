import assert from "node:assert/strict";
import plugin from "../../scripts/lint/idioms.ts";

function brokenRules(code: string): readonly string[] {
  return Deno.lint.runPlugin(plugin, "services/a.ts", code).map(({ id }) => id);
}

Deno.test("an object literal is not spread into another", () => {
  const table = [
    ["f({ ...{ a, b }, c });", true],
    ["f({ c, ...{ ...a, b: 1 } });", true],
    ["f({ ...a, b });", false],
    ["f({ ...(a === undefined ? {} : { a }) });", false],
    ["f({ ...a && { a } });", false],
    ["f({ ...g({ a }) });", false],
    ["f([...[a, b]]);", false],
  ] as const;
  for (const [code, broken] of table) {
    assert.deepEqual(brokenRules(code), broken ? ["idioms/needless-spread"] : [], code);
  }
});

Deno.test("the linter writes the properties without the spread", () => {
  const code = "f({ ...{ a, b: 1, }, c });";
  const [found] = Deno.lint.runPlugin(plugin, "services/a.ts", code);
  const [fix] = found?.fix ?? [];
  assert.ok(fix?.range);
  const [start, end] = fix.range;
  assert.equal(code.slice(0, start) + fix.text + code.slice(end), "f({ a, b: 1, c });");
});

Deno.test("a constructor takes at most three parameters and destructures none", () => {
  const table = [
    ["constructor() {}", false],
    ["constructor(options: Options) {}", false],
    ["constructor(options: Options = {}) {}", false],
    ["private constructor(a: A, b: B, c = 1) {}", false],
    ["constructor(a: A, b: B, c: C, d: D) {}", true],
    ["constructor({ a, b }: Options) {}", true],
    ["private constructor(a: A, { b }: Options = {}) {}", true],
    ["method(a, b, c, { d }) {}", false],
  ] as const;
  for (const [member, broken] of table) {
    const found = brokenRules(`class A { ${member} }`);
    assert.deepEqual(found, broken ? ["idioms/constructor-style"] : [], member);
  }
});
