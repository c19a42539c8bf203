/** A text, as code units or as lines. */
interface Sequence {
  readonly length: number;
}

/**
 * Where a pattern of lines stands in others, also where its places overlap.
 *
 * @param from the first line that is searched
 * @returns the numbers of lines before each place, ascending
 */
export function placesIn(lines: readonly string[], pattern: readonly string[], from = 0): number[] {
  const isEqual = (line: number, other: number) => lines[line] === pattern[other];
  const isRepeated = (one: number, other: number) => pattern[one] === pattern[other];
  return [...find({ lines, pattern, from, isEqual, isRepeated })];
}

/** Longest text that the engine of JavaScript finds in linear time. */
const MAX_NATIVE = 250;

/**
 * How often a text stands in another, and where first. Places do not overlap.
 *
 * @param sought not empty
 * @returns the first place; -1 if there is none
 */
export function occurrencesOf(text: string, sought: string): { first: number; count: number } {
  let [first, count, end] = [-1, 0, 0];
  for (
    const place of sought.length > MAX_NATIVE ? longPlaces(text, sought) : places(text, sought)
  ) {
    if (place < end) continue;
    if (count === 0) first = place;
    count++;
    end = place + sought.length;
  }
  return { first, count };
}

function* places(text: string, sought: string): Iterable<number> {
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + sought.length)) {
    yield at;
  }
}

/** `indexOf` is quadratic for texts such as "aaabaaa" in "aaaaaaaaa". */
function longPlaces(text: string, sought: string): Iterable<number> {
  const isEqual = (one: number, other: number) => text.charCodeAt(one) === sought.charCodeAt(other);
  const isRepeated = (one: number, other: number) =>
    sought.charCodeAt(one) === sought.charCodeAt(other);
  return find({ lines: text, pattern: sought, from: 0, isEqual, isRepeated });
}

/**
 * The places of a pattern, in linear time.
 *
 * @see D. E. Knuth, J. H. Morris, V. R. Pratt, "Fast Pattern Matching in Strings", SIAM J. Comput. 6
 * (1977).
 */
function* find({ lines, pattern, from, isEqual, isRepeated }: {
  readonly lines: Sequence;
  /** Not empty. */
  readonly pattern: Sequence;
  readonly from: number;
  /** Whether an element of the sequence equals one of the pattern. */
  readonly isEqual: (index: number, other: number) => boolean;
  /** Whether two elements of the pattern are equal. */
  readonly isRepeated: (index: number, other: number) => boolean;
}): Iterable<number> {
  /** How much of the pattern's start also ends before each of its elements. */
  const borders = new Int32Array(pattern.length + 1);
  borders[0] = -1;
  for (let index = 0, border = -1; index < pattern.length;) {
    while (border >= 0 && !isRepeated(index, border)) border = borders[border] ?? -1;
    borders[++index] = ++border;
  }
  for (let index = from, matched = 0; index < lines.length;) {
    while (matched >= 0 && (matched === pattern.length || !isEqual(index, matched))) {
      matched = borders[matched] ?? -1;
    }
    index++;
    matched++;
    if (matched === pattern.length) yield index - matched;
  }
}
