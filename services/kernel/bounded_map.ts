/** What an entry counts against the bound of its map. */
export type Weigh<Key, Value> = (value: Value, key: Key) => number;

export interface BoundedMapOptions<Key, Value> {
  /** What all entries may weigh together. */
  readonly most: number;
  /** What one weighs, always the same. */
  readonly weigh: Weigh<Key, Value>;
  /** What one may weigh that is kept; `most`, if absent. */
  readonly mostOfOne?: number;
  /** Called with each value that is no longer kept, or too heavy to be. */
  readonly onForgotten?: (value: Value) => void;
}

/**
 * A map that forgets the entries whose last use is the longest ago while all of them together weigh
 * too much.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #weigh: Weigh<Key, Value>;
  readonly #onForgotten: (value: Value) => void;
  #weight = 0;

  /** @param bound the number of entries, or what they weigh */
  constructor(bound: number | BoundedMapOptions<Key, Value>) {
    const { most, weigh, mostOfOne = most, onForgotten = () => {} } = typeof bound === "number"
      ? { most: bound, weigh: () => 1 }
      : bound;
    this.#most = most;
    this.#mostOfOne = mostOfOne;
    this.#weigh = weigh;
    this.#onForgotten = onForgotten;
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** What all entries weigh. */
  get weight(): number {
    return this.#weight;
  }

  /** The value of a key, made if there is none. */
  use(key: Key, make: () => Value): Value {
    const known = this.get(key);
    if (known !== undefined) return known;
    const value = make();
    this.set(key, value);
    return value;
  }

  /** The value of a key, which this uses. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** The value of a key, without using it. */
  peek(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Keeps a value, unless it alone weighs too much. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.#weigh(value, key);
    if (weight > this.#mostOfOne) return this.#onForgotten(value);
    this.#entries.set(key, value);
    this.#weight += weight;
    if (this.#weight <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.delete(oldest);
      if (this.#weight <= this.#most) return;
    }
  }

  delete(key: Key): boolean {
    const value = this.#entries.get(key);
    if (value === undefined) return false;
    this.#weight -= this.#weigh(value, key);
    this.#entries.delete(key);
    this.#onForgotten(value);
    return true;
  }

  clear(): void {
    for (const key of this.#entries.keys()) this.delete(key);
  }

  /** The values, the one used last at the end. */
  values(): Iterable<Value> {
    return this.#entries.values();
  }

  /** The entries, the one used last at the end. */
  entries(): Iterable<[Key, Value]> {
    return this.#entries.entries();
  }
}
