import { BoundedMap } from "./bounded_map.ts";

/** How many may be counted under a key. */
export interface Share {
  readonly key: string;
  readonly most: number;
}

export interface QuotaOptions {
  /**
   * After how many milliseconds a key is counted anew, from its first use on; absent if all that
   * counts is given back.
   */
  readonly period?: number;
  /** Most keys that are counted at once: then the one whose period began first is forgotten. */
  readonly maxKeys?: number;
  /** Milliseconds by any clock; needed for a period. */
  readonly clock?: () => number;
}

interface Count {
  readonly since: number;
  used: number;
}

/** Counts by key what is in use, or what was used within a period. */
export class Quota {
  readonly #period: number;
  readonly #clock: () => number;
  readonly #counts: BoundedMap<string, Count>;

  constructor(options: QuotaOptions = {}) {
    const { period = Infinity, maxKeys = Infinity, clock = () => 0 } = options;
    this.#period = period;
    this.#clock = clock;
    this.#counts = new BoundedMap(maxKeys);
  }

  /** The number of keys with a count. */
  get size(): number {
    return this.#counts.size;
  }

  /** What counts under a key now. */
  used(key: string): number {
    return this.#count(key)?.used ?? 0;
  }

  /** The most that counts under one key now. */
  highest(): number {
    let highest = 0;
    for (const [, count] of this.#counts.entries()) {
      if (this.#isCurrent(count)) highest = Math.max(highest, count.used);
    }
    return highest;
  }

  /** Milliseconds until a key is counted anew. */
  wait(key: string): number {
    const count = this.#count(key);
    return count === undefined ? 0 : count.since + this.#period - this.#clock();
  }

  /** The first of the shares that has no room for one more; null if all have. */
  full(shares: readonly Share[]): Share | null {
    return shares.find(({ key, most }) => this.used(key) >= most) ?? null;
  }

  /** Counts one more under each key, whatever counts there already. Disposing gives it back. */
  take(...keys: readonly string[]): Disposable {
    let taken = keys.map((key) => [key, this.#begin(key)] as const);
    for (const [, count] of taken) count.used++;
    return {
      [Symbol.dispose]: () => {
        for (const [key, count] of taken) {
          count.used--;
          if (count.used === 0 && this.#counts.peek(key) === count) this.#counts.delete(key);
        }
        taken = [];
      },
    };
  }

  #begin(key: string): Count {
    const known = this.#count(key);
    if (known !== undefined) return known;
    const count = { since: this.#clock(), used: 0 };
    this.#counts.set(key, count);
    return count;
  }

  #count(key: string): Count | undefined {
    const count = this.#counts.peek(key);
    return count !== undefined && this.#isCurrent(count) ? count : undefined;
  }

  /** A clock that was set back begins another period. */
  #isCurrent({ since }: Count): boolean {
    const now = this.#clock();
    return now >= since && now < since + this.#period;
  }
}
