/**
 * Maps and sets of texts that users choose, such as names of files. The runtime takes the digits of a
 * short text for its place in a table: a `Map` of 15,000 multiples of 65,536 took seconds. A text of that
 * kind gets a character in front here, and loses it again on its way out.
 */

/** What such a text gets in front, and so does a text that begins with it. */
const MARK = "\0";

/** The longest text that the runtime may take for the index of an array, in characters. */
const MAX_INDEX = 10;

/** The text under which a text is kept. */
function keyOf(text: string): string {
  const first = text.charCodeAt(0);
  const isIndex = first >= 0x31 && first <= 0x39 && text.length <= MAX_INDEX;
  return isIndex || first === 0 ? MARK + text : text;
}

function textOf(key: string): string {
  return key.startsWith(MARK) ? key.slice(MARK.length) : key;
}

/** A map whose keys are texts of users. Each of its methods takes and returns the texts themselves. */
export class TextMap<Value> extends Map<string, Value> {
  /** Whether a key has the mark: most maps have none, and are walked as they are. */
  #isMarked = false;

  constructor(entries: Iterable<readonly [string, Value]> = []) {
    super();
    for (const [text, value] of entries) this.set(text, value);
  }

  /** Items by a text of each, as `Map.groupBy` does. */
  static of<Item>(items: Iterable<Item>, textOf: (item: Item) => string): TextMap<Item[]> {
    const groups = new TextMap<Item[]>();
    for (const item of items) addTo(groups, textOf(item), item);
    return groups;
  }

  override get(text: string): Value | undefined {
    return super.get(keyOf(text));
  }

  override has(text: string): boolean {
    return super.has(keyOf(text));
  }

  override set(text: string, value: Value): this {
    const key = keyOf(text);
    if (key.length > text.length) this.#isMarked = true;
    return super.set(key, value);
  }

  override delete(text: string): boolean {
    return super.delete(keyOf(text));
  }

  override keys(): MapIterator<string> {
    return this.#isMarked ? super.keys().map(textOf) : super.keys();
  }

  override entries(): MapIterator<[string, Value]> {
    if (!this.#isMarked) return super.entries();
    return super.entries().map(([key, value]): [string, Value] => [textOf(key), value]);
  }

  override [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.entries();
  }

  override forEach(visit: (value: Value, text: string, map: Map<string, Value>) => void): void {
    super.forEach((value, key) => visit(value, textOf(key), this));
  }
}

/** The same for a set. It has no operations on two sets. */
export class TextSet implements Iterable<string> {
  readonly #texts = new TextMap<true>();

  constructor(texts: Iterable<string> = []) {
    for (const text of texts) this.#texts.set(text, true);
  }

  get size(): number {
    return this.#texts.size;
  }

  has(text: string): boolean {
    return this.#texts.has(text);
  }

  add(text: string): this {
    this.#texts.set(text, true);
    return this;
  }

  delete(text: string): boolean {
    return this.#texts.delete(text);
  }

  clear(): void {
    this.#texts.clear();
  }

  keys(): MapIterator<string> {
    return this.#texts.keys();
  }

  [Symbol.iterator](): MapIterator<string> {
    return this.#texts.keys();
  }
}

/** Adds a value to the list of a key, in place: a copy of the list for each value takes its square. */
export function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
