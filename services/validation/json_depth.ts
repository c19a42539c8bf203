import { Invalid } from "../errors.ts";

/**
 * Deepest nesting of arrays and objects in a body. Whatever walks a value, such as its schema,
 * takes time or stack for each level; no request that makes sense comes near this bound.
 */
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Bounds the nesting of JSON before it is parsed.
 *
 * @param text JSON; the answer for other text means nothing
 * @throws Invalid if it is nested more than 100 levels deep
 */
export function requireShallow(text: string): void {
  if (isShallow(text)) return;
  throw new Invalid(`The JSON is nested more than ${MAX_DEPTH} levels deep`);
}

/** Whether JSON is nested at most 100 levels deep. Takes time for each character, none for levels. */
export function isShallow(text: string): boolean {
  // Each level needs two brackets.
  if (text.length <= 2 * MAX_DEPTH) return true;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > MAX_DEPTH) return false;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return true;
}

/** The index of the quote that ends the string which begins at an index. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}
