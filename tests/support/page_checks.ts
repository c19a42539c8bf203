/** Checks of a page from inside of it. */
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import type { Page } from "puppeteer-core";
import type { TestBrowser } from "./browser.ts";
import type { LiveChecks, PageChecks } from "./in_page/types.ts";
import { addressOf, type Stop } from "./tour.ts";

/** Gives a page the checks; once for each load. */
export async function addChecks(page: Page): Promise<void> {
  await page.evaluate(sourceOf("checks.ts"));
}

/** Calls one of the checks in the page. */
export async function check<Name extends keyof PageChecks>(
  page: Page,
  name: Name,
  ...args: Parameters<PageChecks[Name]>
): Promise<Awaited<ReturnType<PageChecks[Name]>>> {
  const call = `pageChecks.${name}(...${JSON.stringify(args)})`;
  return await page.evaluate(call) as Awaited<ReturnType<PageChecks[Name]>>;
}

/** A script of `in_page/`, without its types. */
export function sourceOf(name: string): string {
  return stripTypeScriptTypes(readFileSync(new URL(`in_page/${name}`, import.meta.url), "utf8"));
}

/**
 * Looks at pages at both widths and in both themes. A page is loaded once: a width and a theme are
 * media features, which styles follow at once.
 *
 * The first page of each address gets a walk by keyboard, and the rules of `axe-core` at both widths.
 * They judge a phone only where it shows, hides or lets scroll what the desk did not, and if that is
 * not, word for word, what an earlier page had. Further pages of an address are made of the same parts:
 * they get the rules once, at the width where there is least room. The rules about colors cost the
 * most, and most texts look alike: they judge a text only if none that looks the same has passed, on
 * the first pages in both themes.
 */
export class Inspector {
  /** The addresses of which a page was seen. */
  readonly visited = new Set<string>();
  /** How texts look whose colors have passed. */
  readonly #looks = new Set<string>();
  /** How phones differ from a desk, on pages that the rules have judged. */
  readonly #onPhones = new Set<string>();

  /** @returns what is wrong with a page */
  async inspect(tab: TestBrowser, { path, status }: Stop): Promise<string[]> {
    const address = status === 200 ? addressOf(path) ?? "" : "";
    const isFirst = !this.visited.has(address);
    this.visited.add(address);
    await tab.look({ width: isFirst ? "desk" : "phone", theme: "light" });
    const answered = await tab.go(path);
    if (answered !== status) return [`${path}: ${answered}`];
    await addChecks(tab.page);
    const faults = [
      ...await check(tab.page, "faults"),
      ...isFirst ? await this.#inspectOnDesk(tab) : [],
      ...await this.#inspectOnPhone(tab, isFirst),
      ...tab.complaints.splice(0),
    ];
    return faults.map((fault) => `${path}: ${fault}`);
  }

  async #inspectOnDesk(tab: TestBrowser): Promise<string[]> {
    const faults = [
      ...await overflowOf(tab),
      ...await tab.violations("structure"),
      ...await this.judgeColors(tab),
      ...await walkByTab(tab.page),
    ];
    await check(tab.page, "noteShown");
    await tab.look({ width: "desk", theme: "dark" });
    await check(tab.page, "unfold");
    return [...faults, ...await this.judgeColors(tab), ...await overflowOf(tab)];
  }

  async #inspectOnPhone(tab: TestBrowser, isFirst: boolean): Promise<string[]> {
    await tab.look({ width: "phone", theme: "light" });
    if (!isFirst) await check(tab.page, "unfold");
    const faults = [
      ...await overflowOf(tab),
      ...!isFirst || await this.#hasNews(tab) ? await tab.violations("structure") : [],
      ...await this.judgeColors(tab),
    ];
    if (!isFirst) return faults;
    await tab.look({ width: "phone", theme: "dark" });
    return [...faults, ...await this.judgeColors(tab)];
  }

  /** Whether a phone differs from a desk, in something in which no earlier page did. */
  async #hasNews({ page }: TestBrowser): Promise<boolean> {
    const found = new Set(await check(page, "differences")).difference(this.#onPhones);
    for (const html of found) this.#onPhones.add(html);
    return found.size > 0;
  }

  /** @returns what is wrong with colors that were not seen before */
  async judgeColors(tab: TestBrowser): Promise<readonly string[]> {
    const looks = (await check(tab.page, "looks")).filter((look) => !this.#looks.has(look));
    if (looks.length === 0) return [];
    await tab.addAxe();
    const { faults, passed } = await check(tab.page, "judge", looks);
    for (const look of passed) this.#looks.add(look);
    return faults;
  }
}

async function overflowOf({ page }: TestBrowser): Promise<string[]> {
  const pixels = await check(page, "overflow");
  return pixels > 0 ? [`${pixels} pixels wider than the window`] : [];
}

/** Presses of the Tab key beyond those that a walk needs: areas that scroll take the focus too. */
const MAX_MORE_PRESSES = 100;

/**
 * Walks through a page with the Tab key alone, from its top until it comes around.
 *
 * @returns what is wrong: elements that it does not reach, or on which nobody sees the focus
 */
export async function walkByTab(page: Page): Promise<string[]> {
  const expected = await check(page, "startFocusWalk");
  let presses = 2 + expected;
  const session = await page.createCDPSession();
  const key = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 };
  for (let pressed = 0; pressed < expected + MAX_MORE_PRESSES; presses = 10) {
    // Nobody waits between the keys: the page gets them in order.
    const sent = Array.from({ length: presses }, () => [
      session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...key }),
      session.send("Input.dispatchKeyEvent", { type: "keyUp", ...key }),
    ]);
    await Promise.all(sent.flat());
    pressed += presses;
    if (await check(page, "hasWalkedAround")) break;
  }
  await session.detach();
  return await check(page, "focusFaults");
}

/**
 * Loads a page with hostile texts, at both widths.
 *
 * @returns what the texts did: elements that they made, a wider page, what the browser complains of
 */
export async function findHostile(tab: TestBrowser, path: string): Promise<string[]> {
  const { page } = tab;
  const faults: string[] = [];
  await tab.look({ width: "desk", theme: "light" });
  const status = await tab.go(path);
  if (status !== 200) faults.push(`the page answers ${status}`);
  await addChecks(page);
  await page.evaluate(sourceOf("live.ts"));
  faults.push(
    ...await page.evaluate("liveChecks.liveFaults()") as ReturnType<LiveChecks["liveFaults"]>,
  );
  for (const width of ["desk", "phone"] as const) {
    await tab.look({ width, theme: "light" });
    const pixels = await check(page, "pageOverflow");
    if (pixels > 0) faults.push(`${pixels} pixels wider than the window, ${width}`);
  }
  faults.push(...tab.complaints.splice(0));
  return faults.map((fault) => `${path}: ${fault}`);
}

/** Those of the texts that a page, which {@link findHostile} has loaded, does not show. */
export async function missingTexts(page: Page, texts: readonly string[]): Promise<string[]> {
  const source = JSON.stringify(texts.map((text) => shownText(text.toWellFormed())));
  const missing = await page.evaluate(`liveChecks.missing(${source})`) as string[];
  return texts.filter((text) => missing.includes(shownText(text.toWellFormed())));
}

/** A text as pages show it: marks that would turn what is behind them are named. */
function shownText(text: string): string {
  return text.replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    (mark) => `U+${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Looks at many pages as {@link findHostile} does, but in frames of the page that it has loaded, which
 * costs a tenth. A frame has the policy of its page.
 */
export async function findHostileIn(
  tab: TestBrowser,
  paths: readonly string[],
): Promise<string[]> {
  const call = `liveChecks.liveFaultsOf(${JSON.stringify(paths)})`;
  const faults = await tab.page.evaluate(call) as string[];
  return [...faults, ...tab.complaints.splice(0)];
}
