import { Invalid } from "../errors.ts";

/**
 * Deepest nesting of arrays and objects in a body. Whatever walks a value, such as its schema,
 * takes time or stack for each level; no request that makes sense comes near this bound.
 */
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Most entries of all arrays and objects of a body together. A schema writes a sentence for each
 * entry that does not fit, which takes a hundred times as long as to parse it.
 */
export const MAX_ENTRIES = 20_000;

/** Shorter JSON, in characters, is within all bounds: each level and each entry takes two. */
const SHORT = 2 * MAX_DEPTH;

/** Most fields of one object: a schema that lets any pass looks at each of them. */
const MAX_FIELDS = 1000;

/**
 * Bounds the nesting and the entries of JSON before it is parsed.
 *
 * @param text JSON; the answer for other text means nothing
 * @param maxEntries most entries of all arrays and objects together
 * @throws Invalid if it is nested more than 100 levels deep, has more than 20,000 entries, or an object
 * of more than 1,000 fields
 */
export function requireBounded(text: string, maxEntries = MAX_ENTRIES): void {
  if (text.length <= SHORT) return;
  const { depth, entries, fields } = measure(text);
  if (depth > MAX_DEPTH) {
    throw new Invalid(`The JSON is nested more than ${MAX_DEPTH} levels deep`);
  }
  if (fields > MAX_FIELDS) {
    throw new Invalid(`An object of the JSON has more than ${MAX_FIELDS} fields`);
  }
  if (entries > maxEntries) throw new Invalid(`The JSON has more than ${maxEntries} entries`);
}

/**
 * The entries of all arrays and objects of JSON together; null if it is nested more than 100 levels
 * deep, or an object of it has more than 1,000 fields. Takes time for each character, none for levels.
 */
export function entriesIn(text: string): number | null {
  const { depth, entries, fields } = measure(text);
  return depth > MAX_DEPTH || fields > MAX_FIELDS ? null : entries;
}

/** What {@link measure} finds. */
interface Measures {
  /** The deepest nesting, up to one level beyond the most. */
  readonly depth: number;
  /** Each array and object has one entry more than commas; an empty one counts as if it had one. */
  readonly entries: number;
  /** Fields of the object that has most. */
  readonly fields: number;
}

function measure(text: string): Measures {
  let [depth, deepest, entries, fields] = [0, 0, 0, 0];
  /** The fields of the open objects, by their depth; 0 for an array. */
  const open = new Uint32Array(MAX_DEPTH + 2);
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index);
        break;
      case 0x5b: // [
      case 0x7b: // {
        entries++;
        deepest = Math.max(deepest, ++depth);
        if (depth > MAX_DEPTH) return { depth, entries, fields };
        if (depth > 0) open[depth] = text.charCodeAt(index) === 0x7b ? 1 : 0;
        break;
      case 0x2c: // ,
        entries++;
        if (depth > 0 && open[depth]! > 0) fields = Math.max(fields, ++open[depth]!);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return { depth: deepest, entries, fields };
}

/** The index of the quote that ends the string which begins at an index. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}
