import { BoundedMap } from "../../kernel/bounded_map.ts";

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
  /** By name. */
  readonly #written = new BoundedMap<string, Written<Item>>(MOST_LISTS);

  /** The JSON of a list. */
  of(name: string, items: readonly Item[]): string {
    const known = this.#written.get(name);
    if (known !== undefined && areSame(known.items, items)) return known.text;
    const text = JSON.stringify(items);
    this.#written.delete(name);
    if (text.length <= LONGEST_TEXT) this.#written.set(name, { items, text });
    return text;
  }
}

/** Whether two lists hold the same objects, not merely equal ones. */
function areSame<Item>(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, place) => item === other[place]);
}
