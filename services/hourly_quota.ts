import { TooMany } from "./errors.ts";
import type { Principal } from "./identity/mod.ts";
import { Quota } from "./kernel/quota.ts";

/** In milliseconds. */
const HOUR = 60 * 60 * 1000;

/** Callers that are counted at once; beyond, the oldest hour is forgotten. */
const MAX_CALLERS = 10_000;

export interface HourlyQuotaOptions {
  /** The most within an hour; 0 for no bound. */
  readonly most: number;
  /** What is counted, such as `pushes`. */
  readonly what: string;
  /** The key of the configuration. */
  readonly setting: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** What callers have used of a quota. */
export interface QuotaFigures {
  /** The key of the configuration. */
  readonly setting: string;
  /** What one may use; 0 for no bound. */
  readonly most: number;
  /** The most that one uses now; null as long as nobody has measured it. */
  readonly highest: number | null;
  /** How often something was refused since the start. */
  readonly refused: number;
}

/** Bounds how often each token, or each account without one, does something within an hour. */
export class HourlyQuota {
  readonly #options: HourlyQuotaOptions;
  /** By the caller. */
  readonly #quota: Quota;
  #refused = 0;

  constructor(options: HourlyQuotaOptions) {
    this.#options = options;
    this.#quota = new Quota({ period: HOUR, maxKeys: MAX_CALLERS, clock: options.clock });
  }

  /** What the metrics and the doctor tell of it. */
  get figures(): QuotaFigures {
    const { most, setting } = this.#options;
    return { setting, most, highest: this.#quota.highest(), refused: this.#refused };
  }

  /**
   * Takes one of a caller's hour, before the work: so requests at the same time count, too.
   *
   * @returns disposing it gives it back, because nothing came of it
   * @throws TooMany
   */
  take(principal: Principal): Disposable {
    const { most, what, setting } = this.#options;
    if (most === 0) return { [Symbol.dispose]: () => {} };
    const key = keyOf(principal);
    if (this.#quota.full([{ key, most }]) !== null) {
      this.#refused++;
      throw new TooMany(
        `"${principal.name}" has made ${this.#quota.used(key)} ${what} within an hour, which is ` +
          `the limit (${setting}); try again later`,
        Math.ceil(this.#quota.wait(key) / 1000),
      );
    }
    return this.#quota.take(key);
  }
}

function keyOf({ kind, id, tokenId }: Principal): string {
  return tokenId ?? id ?? kind;
}
