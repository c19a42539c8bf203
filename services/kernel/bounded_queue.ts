export interface BoundedQueueOptions {
  /** Most items that wait. */
  readonly max: number;
  /** Most of them of one key; `max`, if absent. */
  readonly maxPerKey?: number;
}

/**
 * Items that wait, each under a key, such as the caller that it is from. Keys take turns; the items of
 * one key come in their order. No two items are the same object.
 */
export class BoundedQueue<Item extends object> {
  readonly #max: number;
  readonly #maxPerKey: number;
  /** By key; the one whose turn was last is at the end. */
  readonly #waiting = new Map<string, Set<Item>>();
  #size = 0;

  constructor(options: BoundedQueueOptions) {
    const { max, maxPerKey = max } = options;
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  /** The number of items. */
  get size(): number {
    return this.#size;
  }

  /** The number of items of a key. */
  sizeOf(key: string): number {
    return this.#waiting.get(key)?.size ?? 0;
  }

  /** Adds an item, unless too many wait; returns whether it did. */
  tryAdd(item: Item, key = ""): boolean {
    if (this.#size >= this.#max || this.sizeOf(key) >= this.#maxPerKey) return false;
    this.add(item, key);
    return true;
  }

  /** Adds an item that counts like the others, but is never refused. */
  add(item: Item, key = ""): void {
    const items = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, items.add(item));
    this.#size++;
  }

  /** Adds an item that was taken and is next again. It is never refused. */
  putBack(item: Item, key = ""): void {
    const items = this.#waiting.get(key) ?? [];
    const others = [...this.#waiting].filter(([other]) => other !== key);
    this.#waiting.clear();
    this.#waiting.set(key, new Set([item, ...items]));
    for (const [other, waiting] of others) this.#waiting.set(other, waiting);
    this.#size++;
  }

  /**
   * Removes the next item.
   *
   * @param costOf of the keys, those with the least cost come next, and those with Infinity wait on;
   * without it, all are equal
   */
  take(costOf: (key: string) => number = () => 0): Item | undefined {
    let [next, least]: [string | undefined, number] = [undefined, Infinity];
    for (const key of this.#waiting.keys()) {
      const cost = costOf(key);
      if (cost < least) [next, least] = [key, cost];
    }
    return next === undefined ? undefined : this.takeOf(next);
  }

  /** Removes the next item of a key, which then lets the other keys go before it. */
  takeOf(key: string): Item | undefined {
    const items = this.#waiting.get(key);
    if (items === undefined) return undefined;
    this.#waiting.delete(key);
    this.#waiting.set(key, items);
    const [item] = items;
    if (item !== undefined) this.delete(item, key);
    return item;
  }

  /**
   * Removes the last item of the key that has most, so that another key can add one. Nothing, if
   * that key would have as many then.
   */
  displaceFor(key: string): Item | undefined {
    let [longest, most] = ["", this.sizeOf(key) + 1];
    for (const [other, { size }] of this.#waiting) {
      if (size > most) [longest, most] = [other, size];
    }
    const last = [...this.#waiting.get(longest) ?? []].at(-1);
    if (most <= this.sizeOf(key) + 1 || last === undefined) return undefined;
    this.delete(last, longest);
    return last;
  }

  /** Removes an item; returns whether it waited. */
  delete(item: Item, key = ""): boolean {
    const items = this.#waiting.get(key);
    if (items?.delete(item) !== true) return false;
    if (items.size === 0) this.#waiting.delete(key);
    this.#size--;
    return true;
  }

  /** Removes and returns all items. */
  clear(): Item[] {
    const items = this.#waiting.values().flatMap((waiting) => waiting).toArray();
    this.#waiting.clear();
    this.#size = 0;
    return items;
  }
}
