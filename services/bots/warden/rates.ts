import { BoundedMap } from "../../kernel/bounded_map.ts";
import { type Rate, TokenBucket } from "../../kernel/token_bucket.ts";

/** Most speakers whose rate is known at one time. */
const MAX_SPEAKERS = 10_000;

/** Counts what each speaker says, in all channels together. */
export class Rates {
  readonly #buckets = new BoundedMap<string, TokenBucket>(MAX_SPEAKERS);

  /**
   * Counts the lines of one message; one that is longer than the burst counts as a whole burst.
   *
   * @param rate a `perSecond` of 0 is no limit
   * @param now Unix milliseconds
   * @returns whether the rate allows it; a message that it refuses costs nothing
   */
  admits(speaker: string, rate: Rate, now: number, lines = 1): boolean {
    if (rate.perSecond <= 0) return true;
    const bucket = this.#buckets.use(speaker, () => new TokenBucket(rate, now));
    bucket.follow(rate, now);
    return bucket.tryTake(now, Math.min(lines, Math.max(rate.burst, 1))) === 0;
  }
}
