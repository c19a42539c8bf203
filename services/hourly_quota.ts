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

/** Bounds how often each token, or each account without one, does something within an hour. */
export class HourlyQuota {
  readonly #options: HourlyQuotaOptions;
  /** By the caller, in the order in which their hours began. */
  readonly #hours = new Map<string, { readonly since: number; count: number }>();
  #refused = 0;

  constructor(options: HourlyQuotaOptions) {
    this.#options = options;
  }

  /** How often it was exhausted since the start. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Checks that a caller has some left.
   *
   * @throws TooMany
   */
  require(principal: Principal): void {
    const { most, what, setting, clock } = this.#options;
    const hour = this.#hours.get(keyOf(principal));
    if (most === 0 || hour === undefined || hour.count < most) return;
    const left = hour.since + HOUR - clock();
    if (left <= 0 || left > HOUR) return;
    this.#refused++;
    throw new TooMany(
      `"${principal.name}" has made ${hour.count} ${what} within an hour, which is the limit ` +
        `(${setting}); try again later`,
      Math.ceil(left / 1000),
    );
  }

  /** Counts one. */
  note(principal: Principal): void {
    if (this.#options.most === 0) return;
    const now = this.#options.clock();
    const key = keyOf(principal);
    const hour = this.#hours.get(key);
    if (hour !== undefined && Math.abs(now - hour.since) < HOUR) {
      hour.count++;
      return;
    }
    this.#hours.delete(key);
    const [oldest] = this.#hours.keys();
    if (this.#hours.size >= MAX_CALLERS && oldest !== undefined) this.#hours.delete(oldest);
    this.#hours.set(key, { since: now, count: 1 });
  }
}

function keyOf({ kind, id, tokenId }: Principal): string {
  return tokenId ?? id ?? kind;
}
