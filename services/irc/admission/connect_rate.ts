/** Most addresses remembered; the one that connected longest ago is dropped first. */
const REMEMBERED = 10_000;

/** The remaining connections of an address. */
interface Allowance {
  tokens: number;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Limits how often one address may connect. The allowance of one minute may be used at once. */
export class ConnectRate {
  readonly #allowances = new Map<string, Allowance>();

  /**
   * Takes one connection from the allowance of an address.
   *
   * @param perMinute null for no bound
   * @param now Unix milliseconds
   * @returns whether the connection may be made
   */
  take(place: string, perMinute: number | null, now: number): boolean {
    if (perMinute === null) return true;
    const known = this.#allowances.get(place);
    const since = known === undefined ? 0 : Math.max(0, now - known.at);
    const tokens = Math.min(perMinute, (known?.tokens ?? perMinute) + since * perMinute / 60_000);
    const allowed = tokens >= 1;
    this.#allowances.delete(place);
    this.#allowances.set(place, { tokens: allowed ? tokens - 1 : tokens, at: now });
    if (this.#allowances.size > REMEMBERED) {
      const [oldest] = this.#allowances.keys();
      if (oldest !== undefined) this.#allowances.delete(oldest);
    }
    return allowed;
  }
}
