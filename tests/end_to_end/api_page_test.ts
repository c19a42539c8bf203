import assert from "node:assert/strict";
import { TestBrowser } from "../support/browser.ts";
import { peer } from "../support/peers.ts";
import { startProgram } from "../support/program.ts";

/** Links within sentences that only their color tells apart. WCAG 2.2, 1.4.1 (use of color). */
const PLAIN_LINKS = `[...document.querySelectorAll("main :is(p, td, small) a")]
  .filter((link) => getComputedStyle(link).textDecorationLine !== "underline").length`;

/** Tables that scroll by themselves, which a keyboard may not reach. WCAG 2.2, 2.1.1 (keyboard). */
const SCROLLING_TABLES = `[...document.querySelectorAll("table")]
  .filter((table) => table.scrollWidth > table.clientWidth).length`;

// axe-core takes minutes for this page: it is the longest of all.
Deno.test({
  name: "the page of the API underlines its links, and fits on a phone without scrolling sideways",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    await using browser = await TestBrowser.open({ base: program.pages });
    await browser.look({ width: "phone", theme: "light" });
    assert.equal(await browser.go("/docs"), 200);
    assert.equal(await browser.page.evaluate(PLAIN_LINKS), 0);
    assert.equal(await browser.page.evaluate(SCROLLING_TABLES), 0);
    assert.equal(await browser.overflow(), 0);
    assert.deepEqual(browser.complaints, []);
  },
});
