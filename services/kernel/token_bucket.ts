/** `burst` at once, then `perSecond`. A burst under 1 counts as 1; a `perSecond` of 0 is a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket, full at first. The clock may be any one that counts milliseconds. */
export class TokenBucket {
  #rate: Rate;
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#tokens = burstOf(rate);
    this.#filledAt = now;
  }

  /** Follows another rate: if it differs from the present one, the bucket is full again. */
  follow(rate: Rate, now: number): void {
    if (rate === this.#rate) return;
    const { perSecond, burst } = this.#rate;
    this.#rate = rate;
    if (rate.perSecond === perSecond && rate.burst === burst) return;
    this.#tokens = burstOf(rate);
    this.#filledAt = now;
  }

  /** Milliseconds until so many tokens are there; 0 if they are, Infinity in a pause. */
  delay(now: number, amount = 1): number {
    this.#fill(now);
    const missing = amount - this.#tokens;
    return missing <= 0 ? 0 : Math.ceil(missing / this.#rate.perSecond * 1000);
  }

  /** Takes tokens if they are there; returns the milliseconds until they are, 0 if it took them. */
  tryTake(now: number, amount = 1): number {
    const delay = this.delay(now, amount);
    if (delay === 0) this.#tokens -= amount;
    return delay;
  }

  /** Takes tokens. Those that are not there are owed, at most one burst. */
  take(now: number, amount = 1): void {
    this.#fill(now);
    this.#tokens = Math.max(this.#tokens - amount, -burstOf(this.#rate));
  }

  #fill(now: number): void {
    const earned = Math.max(0, now - this.#filledAt) / 1000 * this.#rate.perSecond;
    this.#tokens = Math.min(burstOf(this.#rate), this.#tokens + earned);
    this.#filledAt = now;
  }
}

function burstOf({ burst }: Rate): number {
  return Math.max(burst, 1);
}
