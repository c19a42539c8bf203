/** Chromium, and what it complains about. */
import assert from "node:assert/strict";
import { delimiter, join } from "node:path";
import axe from "axe-core";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import type { LoggedIn } from "./visiting.ts";

/** The widths at which pages are checked, in pixels: a desk and a phone. */
export const WIDTHS = { desk: 1280, phone: 390 } as const;

/**
 * How long Chromium may take to start, to load a page or to show something, in milliseconds: a busy
 * machine needs more than the 30 s of puppeteer.
 */
const LIMIT_MS = 180_000;

/** How a page is looked at. */
export interface Look {
  readonly width: keyof typeof WIDTHS;
  readonly theme: "light" | "dark";
}

/** The rules of `axe-core` whose verdict depends on the theme, which changes nothing but colors. */
const RULES_OF_COLORS = ["color-contrast", "link-in-text-block"];

const WITHOUT_COLORS = Object.fromEntries(
  RULES_OF_COLORS.map((rule) => [rule, { enabled: false }]),
);

/** Which of the rules judge a page. */
export type Scope = "everything" | "structure";

/**
 * Flags for a browser that only looks at pages, a second at each. To optimize their scripts takes longer
 * than they run, and a thread for those who scroll while a page computes has nobody to serve. Without
 * that thread, a page gets no animation frames while nothing changes: a test that waits for what a
 * page does would wait in vain.
 */
const TO_LOOK = ["--js-flags=--no-opt,--no-maglev", "--disable-threaded-compositing"];

export interface BrowserOptions {
  /** The base URL of the program. */
  readonly base: string;
  /** Loads many pages and waits for nothing that they do; false by default. */
  readonly onlyLooks?: boolean;
  /** Runs scripts on pages; true by default. */
  readonly scripts?: boolean;
  /**
   * Another name of this machine by which the browser reaches the program. To a browser, an origin
   * with such a name is not secure, unlike `127.0.0.1`.
   */
  readonly host?: string;
  /** More variables for the environment of the browser. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a tab consists of. */
interface TestBrowserOptions {
  readonly browser: Browser;
  readonly page: Page;
  readonly base: string;
  /** Closes the tab, or the whole browser with its first tab. */
  readonly close: () => Promise<void>;
}

/** A tab of a browser, and everything that the browser complained about in it. */
export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #base: string;
  readonly #close: () => Promise<void>;
  readonly page: Page;
  /**
   * Errors and warnings of the console, such as violations of the CSP; uncaught exceptions; what a
   * page loads in vain, or from another host; and dialogs that a script opens.
   */
  readonly complaints: string[] = [];

  private constructor(options: TestBrowserOptions) {
    const { browser, page, base, close } = options;
    this.#browser = browser;
    this.page = page;
    this.#base = base;
    this.#close = close;
    page.setDefaultTimeout(LIMIT_MS);
    page.on("console", (message) => {
      const type = message.type();
      if (type !== "error" && type !== "warn") return;
      // The browser reports the status of the page itself; the test expects it or not.
      if (message.location().url === page.url() && /with a status of/.test(message.text())) return;
      this.complaints.push(`${type}: ${message.text()}`);
    });
    page.on("pageerror", (error) => void this.complaints.push(`uncaught: ${String(error)}`));
    page.on("dialog", (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      // It goes with its page, if that is left first.
      dialog.dismiss().catch(() => {});
    });
    page.on("request", (request) => {
      const url = request.url();
      if (/^data:/.test(url) || URL.parse(url)?.origin === new URL(base).origin) return;
      this.complaints.push(`request of another host: ${url.slice(0, 200)}`);
    });
    page.on("response", (response) => {
      if (response.status() < 400 || response.request().isNavigationRequest()) return;
      this.complaints.push(`${response.status()}: ${response.url()}`);
    });
  }

  /** Starts Chromium; the test needs the peer `chromium`. */
  static async open(options: BrowserOptions): Promise<TestBrowser> {
    const { base, onlyLooks = false, scripts = true, host, environment = {} } = options;
    const url = new URL(base);
    const names = host === undefined ? [] : [`--host-resolver-rules=MAP ${host} ${url.hostname}`];
    const browser = await puppeteer.launch({
      timeout: LIMIT_MS,
      executablePath: findChromium(),
      // Neither the sandbox nor the shared memory of a container suffices for it.
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        ...onlyLooks ? TO_LOOK : [],
        ...names,
      ],
      env: { ...Deno.env.toObject(), ...environment },
    });
    const page = await browser.newPage();
    await page.setJavaScriptEnabled(scripts);
    url.hostname = host ?? url.hostname;
    return new TestBrowser({ browser, page, base: url.href, close: () => browser.close() });
  }

  /** Opens a tab that shares no cookies with the others; it has those of a person, if any. */
  async tab(person: LoggedIn | null = null): Promise<TestBrowser> {
    const context = await this.#browser.createBrowserContext();
    const { hostname } = new URL(this.#base);
    const cookies = [...person?.cookies ?? []].map(([name, value]) => {
      return { name, value, domain: hostname, path: "/" };
    });
    await context.setCookie(...cookies);
    const page = await context.newPage();
    return new TestBrowser({
      browser: this.#browser,
      page,
      base: this.#base,
      close: () => context.close(),
    });
  }

  /** Logs in by the form, and waits for the page to which it leads. */
  async logIn(name: string, password: string): Promise<void> {
    await this.go("/login");
    await this.page.type("#username", name);
    await this.page.type("#password", password);
    await this.leave(() => this.page.click("main button.primary"));
    assert.notEqual(new URL(this.page.url()).pathname, "/login", "The login was refused");
  }

  /** Loads a page of the program; returns its status. */
  async go(path: string): Promise<number> {
    const response = await this.page.goto(new URL(path, this.#base).href, { waitUntil: "load" });
    return response?.status() ?? 0;
  }

  /** Does something that loads another page, and waits for that page. */
  async leave(act: () => Promise<void>): Promise<void> {
    await Promise.all([this.page.waitForNavigation({ waitUntil: "load" }), act()]);
  }

  /** Sets the width and the theme, without loading the page again. */
  async look({ width, theme }: Look): Promise<void> {
    const height = width === "phone" ? 844 : 900;
    await this.page.setViewport({ width: WIDTHS[width], height });
    await this.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  }

  /**
   * What `axe-core` finds on the page: the rule, and the elements that break it.
   *
   * @param scope `structure` for all rules but those that depend on colors alone
   */
  async violations(scope: Scope = "everything"): Promise<string[]> {
    await this.addAxe();
    const options = {
      resultTypes: ["violations"],
      preload: false,
      ...(scope === "structure" ? { rules: WITHOUT_COLORS } : {}),
    };
    const found: Violation[] = await this.page.evaluate(
      `axe.run(${JSON.stringify(options)}).then((r) => r.violations)`,
    ) as Violation[];
    return found.map(({ id, nodes }) =>
      `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(" | ")}`
    );
  }

  /** Gives the page `axe-core`. */
  async addAxe(): Promise<void> {
    if (await this.page.evaluate("typeof axe") !== "undefined") return;
    // The next pages have it from their beginning, which costs less.
    await this.page.evaluateOnNewDocument(axe.source);
    await this.page.evaluate(axe.source);
  }

  /** How many pixels the page is wider than the window. */
  async overflow(): Promise<number> {
    return await this.page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    ) as number;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

/** What `axe-core` reports. */
interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

function findChromium(): string {
  for (const folder of (Deno.env.get("PATH") ?? "").split(delimiter)) {
    const path = join(folder, "chromium");
    try {
      if (Deno.statSync(path).isFile) return path;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error("There is no chromium in PATH");
}
