import { TooMany } from "./errors.ts";
import type { Principal } from "./identity/mod.ts";

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

interface Hour {
  readonly since: number;
  count: number;
}

/** Bounds how often each token, or each account without one, does something within an hour. */
export class HourlyQuota {
  readonly #options: HourlyQuotaOptions;
  /** By the caller, in the order in which their hours began. */
  readonly #hours = new Map<string, Hour>();
  #refused = 0;

  constructor(options: HourlyQuotaOptions) {
    this.#options = options;
  }

  /** What the metrics and the doctor tell of it. */
  get figures(): QuotaFigures {
    const { most, setting, clock } = this.#options;
    const now = clock();
    let highest = 0;
    for (const { since, count } of this.#hours.values()) {
      if (isWithin(since, now)) highest = Math.max(highest, count);
    }
    return { setting, most, highest, refused: this.#refused };
  }

  /**
   * Takes one of a caller's hour, before the work: so requests at the same time count, too.
   *
   * @returns gives it back, because nothing came of it
   * @throws TooMany
   */
  take(principal: Principal): () => void {
    const { most, what, setting, clock } = this.#options;
    if (most === 0) return () => {};
    const now = clock();
    const hour = this.#hourOf(keyOf(principal), now);
    if (hour.count >= most) {
      this.#refused++;
      throw new TooMany(
        `"${principal.name}" has made ${hour.count} ${what} within an hour, which is the limit ` +
          `(${setting}); try again later`,
        Math.ceil((hour.since + HOUR - now) / 1000),
      );
    }
    hour.count++;
    return () => {
      hour.count--;
    };
  }

  #hourOf(key: string, now: number): Hour {
    const known = this.#hours.get(key);
    if (known !== undefined && isWithin(known.since, now)) return known;
    this.#hours.delete(key);
    const [oldest] = this.#hours.keys();
    if (this.#hours.size >= MAX_CALLERS && oldest !== undefined) this.#hours.delete(oldest);
    const hour = { since: now, count: 0 };
    this.#hours.set(key, hour);
    return hour;
  }
}

/** Whether an hour is the present one. A clock that was set back begins another. */
function isWithin(since: number, now: number): boolean {
  return now >= since && now < since + HOUR;
}

function keyOf({ kind, id, tokenId }: Principal): string {
  return tokenId ?? id ?? kind;
}
