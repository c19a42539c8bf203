/** A map that forgets the entry whose last use is the longest ago when it has too many. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;

  /** @param most how many entries it keeps */
  constructor(most: number) {
    this.#most = most;
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
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#most) return;
    for (const [oldest] of this.#entries) return void this.#entries.delete(oldest);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  /** The entries, the one used last at the end. */
  entries(): Iterable<[Key, Value]> {
    return this.#entries.entries();
  }
}
