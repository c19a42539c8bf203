import assert from "node:assert/strict";
import { PAGES } from "../../web/table.ts";
import { TestBrowser } from "../support/browser.ts";
import { crawl } from "../support/crawl.ts";
import { addAdmin, fillServer } from "../support/filled_server.ts";
import { addChecks, check, Inspector, walkByTab } from "../support/page_checks.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import { addressOf, EMPTY_SERVER, NO_PAGES, type Stop, stopsOf } from "../support/tour.ts";
import { headersOf, type LoggedIn } from "../support/visiting.ts";

/** Addresses that no page links to. */
const UNLINKED: ReadonlyMap<string, string> = new Map([
  ["/login", "the home page leads guests there"],
  ["/enter", "takes the forms of the login"],
  ["/robots.txt", "is for robots"],
  ["/oauth/authorize", "programs lead people there"],
]);

Deno.test({
  name: "Chromium and axe find no fault on any page, at both widths, in both themes, by keyboard",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    await using browser = await TestBrowser.open({ base: program.pages, onlyLooks: true });
    await testChecks(browser);
    const admin = await addAdmin(program, "root");
    const inspector = new Inspector();
    const faults: string[] = [];
    const visit = async (tab: TestBrowser, stops: readonly Stop[]) => {
      for (const stop of stops) faults.push(...await inspector.inspect(tab, stop));
    };
    await using own = await browser.tab(admin);
    for (const { path } of EMPTY_SERVER) inspector.visited.add(addressOf(path) ?? "");
    await visit(own, EMPTY_SERVER);
    const server = await fillServer(program, admin);
    inspector.visited.clear();
    const stops = stopsOf(server);
    await using persons = await browser.tab(server.person);
    await visit(own, stops.admin);
    await visit(persons, stops.person);
    await visit(browser, stops.guest);
    faults.push(...await followLinks(program, admin));
    assert.deepEqual(faults, []);
    const missing = Object.keys(PAGES).filter((address) =>
      !inspector.visited.has(address) && !NO_PAGES.has(address)
    );
    assert.deepEqual(missing, [], "tests/support/tour.ts visits no page of these addresses");
  },
});

/** Follows the links as an admin: they lead to every address, and to nothing that is not there. */
async function followLinks(program: Program, admin: LoggedIn): Promise<string[]> {
  const { reached, dead } = await crawl(program.api, headersOf(admin));
  const unlinked = Object.keys(PAGES).filter((one) => !reached.has(one) && !UNLINKED.has(one));
  return [
    ...unlinked.map((address) => `no page links to ${address}`),
    ...dead.map(({ from, to, status }) => `${from} links to ${to}, which answers ${status}`),
  ];
}

const FAULTY = `<!DOCTYPE html><html><title>x</title><h1>One</h1><h1>Two</h1>
<a href="/a">seen</a> <button tabindex="2">first</button>
<button id="b">not marked</button> <a href="/c" id="c">hidden</a>
<button onkeydown="if (event.key === 'Tab') event.preventDefault()">a trap</button>
<a href="/d">behind the trap</a><div id="wide">wide</div><p>dark</p><p class="pale">pale</p>
<style>#b:focus { outline: none } #c { position: absolute; opacity: 0 }
#wide { width: 9999px } .pale { color: #ccc; background: #fff }</style>`;

/** The checks find what they look for. */
async function testChecks(browser: TestBrowser): Promise<void> {
  const { page } = browser;
  await page.setContent(FAULTY);
  await addChecks(page);
  assert.deepEqual(await check(page, "faults"), [
    'the title is "x"',
    "the language is missing",
    "the page has 2 elements h1",
  ]);
  assert.ok(await check(page, "overflow") > 0);
  const found = (await walkByTab(page)).map((fault) => fault.replace(/<(\w+)[^>]*>/, "<$1>"));
  const expected = [
    /^the focus is not visible on <button>not marked/,
    /^the focus is on a transparent <a>hidden/,
    /^the keyboard does not reach <a>behind the trap/,
    /^the keyboard does not reach <button>first/,
    /^the focus does not come around/,
  ];
  for (const pattern of expected) assert.ok(found.some((one) => pattern.test(one)), `${pattern}`);
  assert.equal(found.length, expected.length, found.join("\n"));
  const inspector = new Inspector();
  for (let time = 1; time <= 2; time++) {
    const [pale = "", ...others] = await inspector.judgeColors(browser);
    assert.match(pale, /^color-contrast: <p class="pale">pale<\/p>$/);
    assert.deepEqual(others, []);
  }
}
