import { Buffer } from "node:buffer";
import { escapeToken } from "../codec/mod.ts";
import { CardError, cardOf, CardReader } from "./cards.ts";
import { Draft, readCard } from "./rules.ts";
import type { FileCard } from "./types.ts";

const NEWLINE = 0x0a;
const DASH = 0x2d;
const LETTER_B = 0x42;

/**
 * The F card of a path in a full manifest that is known to be one, found without parsing the rest.
 * Null if that is not possible: then parse the manifest.
 */
export function findFileCard(manifest: Uint8Array, path: string): FileCard | null {
  if (manifest[0] === DASH || manifest[0] === LETTER_B) return null;
  const bytes = Buffer.from(manifest.buffer, manifest.byteOffset, manifest.byteLength);
  const start = bytes.indexOf(`\nF ${escapeToken(path)} `) + 1;
  if (start === 0) return null;
  const line = bytes.subarray(start, bytes.indexOf(NEWLINE, start) + 1);
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
