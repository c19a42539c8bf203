import { endOfString } from "./json_depth.ts";

/** A text that `JSON.parse` may take for the index of an array. */
const INDEX = /"[1-9]\d{1,9}"/g;
const MANY_INDICES = 20;

/**
 * Whether JSON has many short texts of digits, such as names of files. `JSON.parse` takes a time that
 * grows with the square of their number, if they were chosen for that.
 */
export function hasManyIndices(text: string): boolean {
  const indices = text.matchAll(INDEX);
  for (let count = 0; !indices.next().done; count++) if (count === MANY_INDICES) return true;
  return false;
}

/** JSON that is too short for texts that would cost anything, in characters. */
const SHORT = 4096;

/** A text that the runtime may take for the index of an array. */
const WHOLE_INDEX = /^"[1-9]\d{1,9}"$/;

/** Longest text of digits with its quotes. */
const LONGEST = 12;

const QUOTE = 0x22;

/**
 * Parses JSON, in time that grows with its length and no faster. `JSON.parse` keeps each text of up to
 * ten characters in a table of the process, whose place is the number itself for a text of digits: a
 * body of 20,000 multiples of 65,536 took twelve seconds, and made later ones slow. Where there are many
 * such texts, they get a beginning that makes them longer, and lose it again.
 *
 * @throws SyntaxError if it is not JSON
 */
export function parseJson(text: string): unknown {
  const isPlain = text.length < SHORT || !hasManyIndices(text);
  return isPlain ? JSON.parse(text) : parseGuarded(text);
}

function parseGuarded(text: string): unknown {
  // No sender can guess it, so no other text begins so.
  const mark = crypto.randomUUID();
  const parts: string[] = [];
  let kept = 0;
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', start)) {
    const end = endOfString(text, start);
    const isShort = end - start < LONGEST && text.charCodeAt(end) === QUOTE;
    if (isShort && WHOLE_INDEX.test(text.slice(start, end + 1)) && !isName(text, end + 1)) {
      parts.push(text.slice(kept, start + 1), mark);
      kept = start + 1;
    }
    start = end + 1;
  }
  parts.push(text.slice(kept));
  return withoutMark(JSON.parse(parts.join("")), mark);
}

/** Whether a text that ends before an index is the name of a field; those are kept elsewhere. */
function isName(text: string, after: number): boolean {
  while (" \t\r\n".includes(text[after] ?? "x")) after++;
  return text[after] === ":";
}

/** Takes the mark from the texts of a value, in place. */
function withoutMark(value: unknown, mark: string): unknown {
  const plain = (one: unknown) =>
    typeof one === "string" && one.startsWith(mark) ? one.slice(mark.length) : one;
  const waiting: unknown[] = [value];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (typeof one !== "object" || one === null) continue;
    const holder = one as Record<string, unknown>;
    for (const name of Object.keys(holder)) {
      const own = holder[name];
      if (typeof own === "string") {
        if (own.startsWith(mark)) holder[name] = plain(own);
      } else waiting.push(own);
    }
  }
  return plain(value);
}
