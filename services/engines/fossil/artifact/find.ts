import { compareUtf8, unescapeToken } from "../codec/mod.ts";
import { CardError, cardOf, CardReader } from "./cards.ts";
import { Draft, readCard } from "./rules.ts";
import type { FileCard } from "./types.ts";

const NEWLINE = 0x0a;
const SPACE = 0x20;
const DASH = 0x2d;
const LETTER_B = 0x42;
const LETTER_F = 0x46;

/**
 * The F card of a path in a full manifest that is known to be one, found without parsing the rest:
 * cards are sorted by their letters, and F cards by their names. Null if that is not possible: then
 * parse the manifest.
 */
export function findFileCard(manifest: Uint8Array, path: string): FileCard | null {
  if (manifest[0] === DASH || manifest[0] === LETTER_B) return null;
  let [low, high] = [0, manifest.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const start = middle === 0 ? 0 : manifest.lastIndexOf(NEWLINE, middle - 1) + 1;
    const end = manifest.indexOf(NEWLINE, start) + 1;
    if (end === 0) return null;
    const order = compareCard(manifest.subarray(start, end), path);
    if (order === 0) return cardAt(manifest.subarray(start, end), path);
    if (order < 0) low = end;
    else high = start;
  }
  return null;
}

/** Whether a line is before the F card of a path (below 0), after it, or may be it (0). */
function compareCard(line: Uint8Array, path: string): number {
  if (line[0] !== LETTER_F) return (line[0] ?? 0) - LETTER_F;
  const end = line.indexOf(SPACE, 2);
  const token = new TextDecoder().decode(line.subarray(2, end < 0 ? -1 : end));
  return compareUtf8(unescapeToken(token), path);
}

function cardAt(line: Uint8Array, path: string): FileCard | null {
  const draft = new Draft();
  const reader = new CardReader(line);
  try {
    readCard(draft, cardOf(reader.line() ?? ""), reader);
  } catch (error) {
    if (!(error instanceof CardError)) throw error;
  }
  const card = draft.files[0];
  return card?.name === path ? card : null;
}
