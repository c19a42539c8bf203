/** A person at a browser, who uses nothing but what pages show. */
import assert from "node:assert/strict";
import type { TestBrowser } from "./browser.ts";

/** Where a person looks, as a CSS selector; by default, the page without its navigation. */
type Place = string;

const PAGE: Place = "main";

export class Person {
  readonly #browser: TestBrowser;

  constructor(browser: TestBrowser) {
    this.#browser = browser;
  }

  /** The path of the page, with its query. */
  get place(): string {
    const { pathname, search } = new URL(this.#browser.page.url());
    return pathname + search;
  }

  /** Follows a link by its words to another page. */
  async follow(words: string, place = PAGE): Promise<void> {
    await this.#leave(`${place} a`, words);
  }

  /** Follows a link by the way in which a screen reader names it. */
  async followNamed(name: string): Promise<void> {
    const link = `::-p-aria([name=${JSON.stringify(name)}][role="link"])`;
    await this.#browser.leave(() => this.#browser.page.locator(link).click());
  }

  /** Presses a button that opens something on the page. */
  async press(words: string, place = PAGE): Promise<void> {
    await this.#click(`${place} :is(button, summary)`, words);
  }

  /** Presses the button of a form, and waits for the page that answers. */
  async send(words: string, place = PAGE): Promise<void> {
    await this.#leave(`${place} :is(button, summary)`, words);
  }

  /** Clicks a field's label, which chooses an option. */
  async choose(label: string): Promise<void> {
    await this.#click("label", label);
  }

  /** Clicks a field's label and types. */
  async fill(label: string, text: string, place = PAGE): Promise<void> {
    await this.#click(`${place} label`, label);
    await this.#browser.page.keyboard.type(text);
  }

  /** Writes a message where the page has a field for one, and sends it. */
  async say(text: string): Promise<void> {
    await this.#browser.page.locator("#say").click();
    await this.#browser.page.keyboard.type(text);
    await this.#browser.page.keyboard.press("Enter");
  }

  /** Waits until the page of a channel has noted as read what others say there. */
  async reads(words: string, others: () => Promise<unknown>): Promise<void> {
    const { page } = this.#browser;
    const last = "[...document.querySelectorAll('.message')].at(-1)";
    const noted = page.waitForResponse(async (response) => {
      const sent = new URLSearchParams(response.request().postData() ?? "");
      if (sent.get("action") !== "read") return false;
      const [text, time] = await page.evaluate(`[${last}.textContent, ${last}.dataset.at]`) as [
        string,
        string,
      ];
      return text.includes(words) && time === sent.get("upto");
    });
    await Promise.all([noted, others()]);
  }

  /** Chooses a file for the only field of a page that takes one. */
  async attach(path: string): Promise<void> {
    const field = await this.#browser.page.$("input[type=file]");
    assert.ok(field !== null, "The page takes no file");
    await field.uploadFile(path);
  }

  /** Waits until a visible part of the page says something. */
  async sees(words: string, place = PAGE): Promise<void> {
    const isShown = `[...document.querySelectorAll(${JSON.stringify(place)})].some((element) =>
      element.checkVisibility() &&
      element.innerText.replace(/\\s+/g, " ").includes(${JSON.stringify(words)}))`;
    await this.#browser.page.waitForFunction(isShown).catch(async () => {
      throw new Error(`${place} does not say "${words}" on ${this.place}:\n${await this.text()}`);
    });
  }

  /** Waits until the page says something by itself, because others do something. */
  async seesLive(words: string, place: Place, others: () => Promise<unknown>): Promise<void> {
    const { page } = this.#browser;
    await page.evaluate("globalThis.isSamePage = true");
    await others();
    await this.sees(words, place);
    assert.ok(await page.evaluate("globalThis.isSamePage"), "The page was loaded again");
  }

  /** What a part of the page says, with its spaces folded. */
  async text(place = PAGE): Promise<string> {
    const text = `document.querySelector(${JSON.stringify(place)})?.innerText ?? ""`;
    return String(await this.#browser.page.evaluate(text)).replace(/\s+/g, " ").trim();
  }

  /** Clicks what leads to another page, and waits for that page. */
  async #leave(selector: string, words: string): Promise<void> {
    const from = this.place;
    await this.#browser.leave(() => this.#click(selector, words)).catch(async (cause: unknown) => {
      const shown = await this.text();
      throw new Error(`"${words}" led from ${from} to ${this.place}:\n${shown}`, { cause });
    });
  }

  async #click(selector: string, words: string): Promise<void> {
    const control = `${selector}::-p-text(${JSON.stringify(words)})`;
    await this.#browser.page.locator(control).click().catch(async (error: unknown) => {
      const shown = await this.text();
      throw new Error(`Nothing to click: ${control} on ${this.place}:\n${shown}`, { cause: error });
    });
  }
}
