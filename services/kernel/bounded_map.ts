/** What an entry counts against the bound of its map. */
export type Weigh<Key, Value> = (value: Value, key: Key) => number;

/**
 * A map that forgets the entries whose last use is the longest ago while all of them together weigh
 * too much.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;
  readonly #weigh: Weigh<Key, Value>;
  #weight = 0;

  /**
   * @param most what all entries may weigh together
   * @param weigh what one weighs, always the same; by default 1, so that `most` is their number. One that
   * weighs more than `most` is not kept.
   */
  constructor(most: number, weigh: Weigh<Key, Value> = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key, made if there is none. */
  use(key: Key, make: () => Value): Value {
    const value = this.#entries.get(key) ?? make();
    this.set(key, value);
    return value;
  }

  /** The value of a key, without using it. */
  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.#weigh(value, key);
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#most) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): boolean {
    const value = this.#entries.get(key);
    if (value === undefined) return false;
    this.#weight -= this.#weigh(value, key);
    return this.#entries.delete(key);
  }

  /** The entries, the one used last at the end. */
  entries(): Iterable<[Key, Value]> {
    return this.#entries.entries();
  }
}
