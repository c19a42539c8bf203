import { sameDigest } from "../identity/mod.ts";
import { newUlid } from "../ulid.ts";

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
export class KnownBrowsers {
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
