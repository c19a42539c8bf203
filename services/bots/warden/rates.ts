import { BoundedMap } from "../bounded_map.ts";

/** Most speakers whose rate is known at one time. */
const MAX_SPEAKERS = 10_000;

/** A token bucket: `burst` messages at once, then `perSecond`. */
export interface Rate {
  /** 0: no limit. */
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  /** Unix milliseconds. */
  filledAt: number;
}

/** Counts what each speaker says, in all channels together. */
export class Rates {
  readonly #buckets = new BoundedMap<string, Bucket>(MAX_SPEAKERS);

  /**
   * Counts the lines of one message; one that is longer than the burst counts as a whole burst.
   *
   * @param now Unix milliseconds
   * @returns whether the rate allows it; a message that it refuses costs nothing
   */
  admits(speaker: string, { perSecond, burst }: Rate, now: number, lines = 1): boolean {
    if (perSecond <= 0) return true;
    const most = Math.max(burst, 1);
    const bucket = this.#buckets.use(speaker, () => ({ tokens: most, filledAt: now }));
    const gained = Math.max(now - bucket.filledAt, 0) / 1000 * perSecond;
    bucket.tokens = Math.min(most, bucket.tokens + gained);
    bucket.filledAt = now;
    const cost = Math.min(lines, most);
    if (bucket.tokens < cost) return false;
    bucket.tokens -= cost;
    return true;
  }
}
