import { createHash } from "node:crypto";
import { BoundedMap } from "../../kernel/bounded_map.ts";

/** How long a failure is remembered, in milliseconds: load may have caused it. */
const REMEMBERED_MS = 60_000;
/** Most remembered failures; each takes about 200 bytes. */
const MAX_REMEMBERED = 1000;

/** Texts that could not be rendered a moment ago, by their keys. */
export class Failures {
  readonly #now: () => number;
  /** Unix milliseconds of each failure by the key's digest. */
  readonly #times = new BoundedMap<string, number>(MAX_REMEMBERED);

  constructor(now: () => number) {
    this.#now = now;
  }

  has(key: string): boolean {
    if (this.#times.size === 0) return false;
    const digest = digestOf(key);
    const time = this.#times.get(digest);
    if (time === undefined) return false;
    // A time in the future means that the clock was set back.
    if (time <= this.#now() && this.#now() < time + REMEMBERED_MS) return true;
    this.#times.delete(digest);
    return false;
  }

  add(key: string): void {
    this.#times.set(digestOf(key), this.#now());
  }
}

function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64");
}
