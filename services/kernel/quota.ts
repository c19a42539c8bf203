import { BoundedMap } from "./bounded_map.ts";

/** How many may be counted under a key. */
export interface Share {
  readonly key: string;
  readonly most: number;
}

export interface QuotaOptions {
  /** How many milliseconds each use counts; absent if all uses are given back. */
  readonly period?: number;
  /** Most keys that are counted at once: then the one that was used longest ago is forgotten. */
  readonly maxKeys?: number;
  /** Milliseconds by any clock; needed for a period. */
  readonly clock?: () => number;
}

/** One use, which has an identity of its own. */
interface Use {
  readonly at: number;
}

/** Counts uses by key: all that were not given back, or those of the last period, which slides. */
export class Quota {
  readonly #period: number;
  readonly #clock: () => number;
  /** The uses of each key, oldest first. */
  readonly #uses: BoundedMap<string, Set<Use>>;

  constructor(options: QuotaOptions = {}) {
    const { period = Infinity, maxKeys = Infinity, clock = () => 0 } = options;
    this.#period = period;
    this.#clock = clock;
    this.#uses = new BoundedMap(maxKeys);
  }

  /** The number of keys with a count. */
  get size(): number {
    return this.#uses.size;
  }

  /** What counts under a key now. */
  used(key: string): number {
    return this.#current(key)?.size ?? 0;
  }

  /** The most that counts under one key now. */
  highest(): number {
    let highest = 0;
    for (const [key] of this.#uses.entries()) highest = Math.max(highest, this.used(key));
    return highest;
  }

  /** Milliseconds until the oldest use of a key no longer counts; 0 without one. */
  wait(key: string): number {
    const [oldest] = this.#current(key) ?? [];
    return oldest === undefined ? 0 : oldest.at + this.#period - this.#clock();
  }

  /** The first of the shares that has no room for one more; null if all have. */
  full(shares: readonly Share[]): Share | null {
    return shares.find(({ key, most }) => this.used(key) >= most) ?? null;
  }

  /**
   * Counts one more under each key, whatever counts there already. Look with {@link full} before:
   * each use is remembered for the period. Disposing gives it back.
   */
  take(...keys: readonly string[]): Disposable {
    const use: Use = { at: this.#clock() };
    let taken = keys.map((key) => [key, this.#add(key, use)] as const);
    return {
      [Symbol.dispose]: () => {
        for (const [key, uses] of taken) {
          uses.delete(use);
          if (uses.size === 0 && this.#uses.peek(key) === uses) this.#uses.delete(key);
        }
        taken = [];
      },
    };
  }

  #add(key: string, use: Use): Set<Use> {
    const uses = (this.#current(key) ?? new Set()).add(use);
    this.#uses.set(key, uses);
    return uses;
  }

  /** The uses of a key that count now. Those of a time to come are of a clock that was set back. */
  #current(key: string): Set<Use> | undefined {
    const uses = this.#uses.peek(key);
    if (uses === undefined) return undefined;
    const now = this.#clock();
    for (const use of uses) {
      if (use.at <= now && now < use.at + this.#period) return uses;
      uses.delete(use);
    }
    this.#uses.delete(key);
    return undefined;
  }
}
