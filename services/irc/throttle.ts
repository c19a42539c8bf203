import type { RateLimit } from "./options.ts";

/** A token bucket that follows the current rate limit. */
export class Throttle {
  #limit: RateLimit | null = null;
  #tokens = 0;
  #updatedAt = 0;

  /** Milliseconds until a token is available; 0 if one is available now. */
  delay(limit: RateLimit, now: number): number {
    if (limit === this.#limit) {
      const refill = ((now - this.#updatedAt) / 1000) * limit.perSecond;
      this.#tokens = Math.min(limit.burst, this.#tokens + Math.max(0, refill));
    } else {
      this.#limit = limit;
      this.#tokens = limit.burst;
    }
    this.#updatedAt = now;
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / limit.perSecond) * 1000);
  }

  take(amount: number): void {
    this.#tokens -= amount;
  }
}
