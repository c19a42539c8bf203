import { decodeUtf8, encodeUtf8 } from "../codec/mod.ts";
import type { FileCard } from "./types.ts";

/** Most cached lines; each takes about 400 bytes with its card. */
const MAX_LINES = 20_000;

/** An F card that was read before. */
export interface KnownFile {
  readonly card: FileCard;
  /** The card that was found valid before this one. */
  previous: FileCard | undefined;
}

/**
 * F cards by their lines. Nearly all stay the same from one check-in to the next, so many manifests
 * parse each line only once.
 */
export class KnownFiles {
  readonly #files = new Map<string, KnownFile>();

  get(line: string): KnownFile | undefined {
    return this.#files.get(line);
  }

  /**
   * @param line must not be a slice of a longer text, which would stay in memory. Nor may the texts
   * of the card.
   */
  set(line: string, card: FileCard, previous: FileCard | undefined): void {
    if (this.#files.size >= MAX_LINES) this.#files.clear();
    this.#files.set(line, { card, previous });
  }
}

/** A copy that is not a slice of a longer text. */
export function detached(text: string): string {
  return decodeUtf8(encodeUtf8(text));
}
