import assert from "node:assert/strict";
import { stop } from "esbuild";
import { minify } from "../../scripts/minify.ts";

const BUNDLED = `
var __export = (target, all) => Object.assign(target, all);
var error = () => "Ungültig";
function de_default() {
  return { localeError: error() };
}
var error2 = () => "Invalid";
function en_default() {
  return { localeError: error2() };
}
var locales_exports = {};
__export(locales_exports, {
  de: () => de_default,
  en: () => en_default
});
var external_exports = {};
__export(external_exports, {
  lazy: () => lazy,
  locales: () => locales_exports,
  message: () => en_default
});
var lazy = 1;
export { external_exports };
`;

Deno.test("a minified script lacks zod's languages that nobody uses", async () => {
  try {
    const script = await minify(BUNDLED);
    assert.ok(!/locales|de_default|Ung/.test(script), script);
    assert.match(script, /message:\(\)=>en_default/);
  } finally {
    await stop();
  }
});
