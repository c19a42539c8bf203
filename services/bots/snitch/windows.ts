import { BoundedMap } from "../../kernel/bounded_map.ts";

/** Most things that are counted at one time. */
const MAX_COUNTED = 10_000;

/** Counts how often each thing happened within a span of time. */
export class Windows {
  /** The times of each thing, the oldest first, in Unix milliseconds. */
  readonly #times = new BoundedMap<string, number[]>(MAX_COUNTED);

  /**
   * Counts one occurrence.
   *
   * @param threshold how many within the span are too many; 0: any number is fine
   * @param span in milliseconds
   * @param now Unix milliseconds
   * @returns how often it happened within the span if that reaches the threshold, or null
   */
  add(thing: string, threshold: number, span: number, now: number): number | null {
    if (threshold <= 0) return null;
    const times = this.#times.use(thing, () => []);
    times.push(now);
    while (times.length > threshold || (times[0] ?? now) < now - span) times.shift();
    return times.length >= threshold ? times.length : null;
  }
}
