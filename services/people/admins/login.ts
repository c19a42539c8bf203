import { TooMany } from "../../kernel/errors.ts";
import { Quota } from "../../kernel/quota.ts";
import {
  acceptedAccount,
  type Account,
  type Caller,
  type Logins,
  placeOf,
  type Refusals,
  sameDigest,
  type WebSession,
  type WebSessions,
} from "../identity/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { waitInWords } from "../../kernel/words.ts";
import type { LoginRequest } from "./schemas.ts";

/** Most addresses whose attempts are remembered. */
const REMEMBERED = 10_000;

export interface AdminLoginOptions {
  readonly logins: Logins;
  readonly webSessions: WebSessions;
  readonly refusals: Refusals;
  /** Attempts allowed per address within the window, including successful ones. */
  readonly attempts: number;
  /** Milliseconds. */
  readonly window: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** What the marks of browsers are derived from. */
  readonly key: BrowserKey;
}

/** From where somebody logs in. */
export interface LoginPlace {
  /** The client's IP address. */
  readonly address: string;
  /** The browser, if somebody has logged in there: it has limits of its own. */
  readonly browser: KnownBrowser | null;
}

/** How admins log in to the web pages. */
export class AdminLogin {
  readonly #logins: Logins;
  readonly #sessions: WebSessions;
  readonly #refusals: Refusals;
  readonly #attempts: Quota;
  /** Attempts of one place within the window. */
  readonly #most: number;
  readonly #browsers: KnownBrowsers;
  readonly #clock: () => number;

  constructor(options: AdminLoginOptions) {
    const { attempts, window, clock } = options;
    this.#browsers = new KnownBrowsers(options.key);
    this.#clock = clock;
    this.#logins = options.logins;
    this.#sessions = options.webSessions;
    this.#refusals = options.refusals;
    this.#attempts = new Quota({ period: window, maxKeys: REMEMBERED, clock });
    this.#most = attempts;
  }

  /**
   * Counts an attempt, whatever its result.
   *
   * @throws TooMany if too many came from its browser, or else from its address
   */
  admit({ address, browser }: LoginPlace): void {
    const place = browser?.id ?? placeOf(address);
    if (this.#attempts.full([{ key: place, most: this.#most }]) !== null) {
      this.#refusals.note({ door: "login", address, reason: "too many attempts" });
      const wait = Math.max(1, Math.ceil(this.#attempts.wait(place) / 1000));
      throw new TooMany(`Too many logins, try again in ${waitInWords(wait)}`, wait);
    }
    this.#attempts.take(place);
  }

  /**
   * The browser that keeps a mark of {@linkcode remember}; null if it keeps none.
   */
  recognize(mark: string | undefined): Promise<KnownBrowser | null> {
    return this.#browsers.recognize(mark);
  }

  /**
   * Makes the mark that a browser keeps after a login.
   *
   * @param before the browser as it was recognized: it keeps the mark that it has
   * @returns null if it needs no other mark
   */
  async remember(account: string, before: KnownBrowser | null): Promise<string | null> {
    if (before?.account === account) return null;
    const { mark, id } = await this.#browsers.mark(account, this.#clock());
    // The login that made it counts there, too.
    this.#attempts.take(id);
    return mark;
  }

  /**
   * Checks the name and password of a counted attempt, and starts a session.
   *
   * @param before the session of the same browser, which ends: its cookie is replaced
   * @throws Unauthorized, TooMany, Unavailable
   */
  async logIn(
    { username, password }: LoginRequest,
    { browser, ...from }: Omit<Caller, "principal" | "address"> & LoginPlace,
    before: WebSession | null = null,
  ): Promise<WebSession> {
    const account = await this.prove({ username, password }, { ...from, browser });
    const session = await this.#sessions.open(account, from);
    if (before !== null) await this.#sessions.close({ ...from, principal: before.principal });
    return session;
  }

  /**
   * Checks the name and password of a counted attempt.
   *
   * @throws Unauthorized, TooMany, Unavailable
   */
  async prove(
    { username, password }: LoginRequest,
    { address, browser }: LoginPlace,
  ): Promise<Account> {
    const attempt = { name: username, password, address, browser, door: "login" } as const;
    const outcome = await this.#logins.logIn(attempt, ["admin", "person"]);
    return acceptedAccount(outcome, "The name or the password is wrong");
  }
}

const PURPOSE = "muster browser ";

/** A mark: the account's id, that of the browser, and the HMAC of both. */
const MARK = /^([0-9A-Z]{26})\.([0-9A-Z]{26})\.([0-9a-f]{64})$/;

/** What marks are derived from. */
export interface BrowserKey {
  mac(purpose: string, text: string): Promise<string>;
}

/** A browser in which the owner of an account has logged in. */
export interface KnownBrowser {
  /** The internal id of the account. */
  readonly account: string;
  /** What its attempts count by. */
  readonly id: string;
}

/**
 * Browsers in which somebody has logged in. Each keeps a mark of that, with which its attempts count
 * by themselves: so nobody else's wrong passwords, from the same address, keep its owner out. A mark
 * opens nothing. OWASP calls it a device cookie.
 */
class KnownBrowsers {
  readonly #key: BrowserKey;

  constructor(key: BrowserKey) {
    this.#key = key;
  }

  /** The browser that keeps a mark; null if the mark is not ours. */
  async recognize(mark: string | undefined): Promise<KnownBrowser | null> {
    const [, account, id, mac] = MARK.exec(mark ?? "") ?? [];
    if (account === undefined || id === undefined || mac === undefined) return null;
    return sameDigest(mac, await this.#macOf(account, id)) ? { account, id } : null;
  }

  /** Makes another mark, for a browser in which somebody has just logged in. */
  async mark(
    account: string,
    now: number,
  ): Promise<{ readonly mark: string; readonly id: string }> {
    const id = newUlid(now);
    return { mark: `${account}.${id}.${await this.#macOf(account, id)}`, id };
  }

  #macOf(account: string, id: string): Promise<string> {
    return this.#key.mac(PURPOSE, `${account}.${id}`);
  }
}
