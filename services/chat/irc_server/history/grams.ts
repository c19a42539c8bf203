/**
 * The keys under which the search index finds texts: every three neighbouring UTF-16 units of a
 * text in lower case, as a number of 21 bits. Keys with the same beginning are neighbours, so a
 * single letter or a pair is a range of keys. The end of a text counts as two units of zero.
 */

/** Bits of one unit in a key. */
const UNIT_BITS = 7;

/** The number of possible keys. */
export const KEYS = 1 << (3 * UNIT_BITS);

/** Most keys of one word that a search looks up; those of a long word are spread over it. */
const MAX_TERMS = 24;

/** The first unit of the keys of speakers: a control character, which texts do not contain. */
const SPEAKER_UNIT = 127;

/** A range of keys, both ends included. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Writes the keys of a text, each followed by a number in the low bits.
 *
 * @param text in lower case
 * @param low the number, which has `bits` bits
 * @param at where to begin in `into`, which must have room for one key per unit
 * @returns the position after the last key
 */
export function writeKeys(
  text: string,
  { low, bits, into, at }: {
    readonly low: number;
    readonly bits: number;
    readonly into: Uint32Array;
    readonly at: number;
  },
): number {
  let [first, second] = [unitOf(text.charCodeAt(0)), unitOf(text.charCodeAt(1))];
  for (let index = 0; index < text.length; index++) {
    const third = unitOf(text.charCodeAt(index + 2));
    into[at++] = (keyOf(first, second, third) << bits) | low;
    first = second;
    second = third;
  }
  return at;
}

/** The key of everything that a speaker says. */
export function speakerKey(nick: string): number {
  let hash = 0;
  const folded = nick.toLowerCase();
  for (let index = 0; index < folded.length; index++) {
    hash = (Math.imul(hash, 31) + folded.charCodeAt(index)) >>> 0;
  }
  const rest = 2 * UNIT_BITS;
  return (SPEAKER_UNIT << rest) | ((hash ^ (hash >>> rest)) & ((1 << rest) - 1));
}

/** Ranges of which every text with a word has a key in each. The word is in lower case. */
export function termsOf(word: string): KeyRange[] {
  const [first, second] = [unitOf(word.charCodeAt(0)), unitOf(word.charCodeAt(1))];
  if (word.length === 1) return [{ from: keyOf(first, 0, 0), to: keyOf(first + 1, 0, 0) - 1 }];
  if (word.length === 2) {
    return [{ from: keyOf(first, second, 0), to: keyOf(first, second + 1, 0) - 1 }];
  }
  const terms: KeyRange[] = [];
  const last = word.length - 3;
  const step = Math.max(1, last / (MAX_TERMS - 1));
  for (let position = 0; position <= last; position += step) {
    const index = Math.round(position);
    const [one, two, three] = [0, 1, 2].map((offset) => unitOf(word.charCodeAt(index + offset)));
    const key = keyOf(one ?? 0, two ?? 0, three ?? 0);
    terms.push({ from: key, to: key });
  }
  return terms;
}

function keyOf(first: number, second: number, third: number): number {
  return (first << (2 * UNIT_BITS)) | (second << UNIT_BITS) | third;
}

/**
 * A unit in seven bits. ASCII stays; the others share the places of control characters and upper
 * case, which texts in lower case seldom have. NaN is the end of a text.
 */
function unitOf(unit: number): number {
  if (unit < 0x80) return unit;
  if (Number.isNaN(unit)) return 0;
  const place = unit % 57;
  return place < 31 ? place + 1 : place - 31 + 0x41;
}
