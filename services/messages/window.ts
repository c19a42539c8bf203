/** The least number of empty places that are given back. */
const LEAST_ROOM = 16;

/**
 * A list that grows at its end and is dropped from its start. An array that is shifted for each new
 * item moves through memory, and is copied each time that it reaches the end of its room.
 */
export class Window<Item extends object> {
  readonly #items: (Item | undefined)[] = [];
  /** Where the first item is; the places before it are empty. */
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  /** The item at an index from 0; undefined beyond the last. */
  at(index: number): Item | undefined {
    return this.#items[this.#first + index];
  }

  get last(): Item | undefined {
    return this.#items[this.#items.length - 1];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Drops the first item. */
  shift(): Item | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#items[this.#first++] = undefined;
    if (this.#first >= Math.max(LEAST_ROOM, this.length)) {
      this.#items.splice(0, this.#first);
      this.#first = 0;
    }
    return item;
  }

  /** The items from an index up to another one, as of `Array.slice` for indexes from 0. */
  slice(from: number, to: number = this.length): Item[] {
    return this.#items.slice(this.#first + from, this.#first + to) as Item[];
  }

  /** Removes so many items at an index, and returns them. */
  remove(index: number, count: number): Item[] {
    return this.#items.splice(this.#first + index, count) as Item[];
  }
}
