/** Most lists that are remembered, and the longest text of one, in UTF-16 units. */
const MOST_LISTS = 64;
const LONGEST_TEXT = 65_536;

interface Written<Item> {
  readonly items: readonly Item[];
  readonly text: string;
}

/**
 * Writes lists of unchanging items as JSON. It remembers the last one of each name, because most
 * readers of a list get what the one before them got.
 */
export class ListTexts<Item extends object> {
  /** By name, the oldest first. */
  readonly #written = new Map<string, Written<Item>>();

  /** The JSON of a list. */
  of(name: string, items: readonly Item[]): string {
    const known = this.#written.get(name);
    if (known !== undefined && areSame(known.items, items)) return known.text;
    const text = JSON.stringify(items);
    this.#written.delete(name);
    if (text.length <= LONGEST_TEXT) this.#remember(name, { items, text });
    return text;
  }

  #remember(name: string, written: Written<Item>): void {
    const [oldest] = this.#written.keys();
    if (this.#written.size >= MOST_LISTS && oldest !== undefined) this.#written.delete(oldest);
    this.#written.set(name, written);
  }
}

/** Whether two lists hold the same objects, not merely equal ones. */
function areSame<Item>(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, place) => item === other[place]);
}
