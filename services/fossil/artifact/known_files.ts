import { decodeUtf8, encodeUtf8 } from "../codec/mod.ts";
import type { FileCard } from "./types.ts";

/** Lines that are kept; with its card each takes about 400 bytes. */
const MAX_LINES = 20_000;

/** An F card that was read before. */
export interface KnownFile {
  readonly card: FileCard;
  /** The card that was found to be in order before this one. */
  previous: FileCard | undefined;
}

/**
 * F cards by their lines. From one check-in to the next nearly all stay as they are: who parses
 * many manifests reads each of these lines once.
 */
export class KnownFiles {
  readonly #files = new Map<string, KnownFile>();

  get(line: string): KnownFile | undefined {
    return this.#files.get(line);
  }

  /** @param line and the texts of the card must be no parts of a longer text: that would stay too. */
  set(line: string, card: FileCard, previous: FileCard | undefined): void {
    if (this.#files.size >= MAX_LINES) this.#files.clear();
    this.#files.set(line, { card, previous });
  }
}

/** The same text, but no part of a longer one. */
export function detached(text: string): string {
  return decodeUtf8(encodeUtf8(text));
}
