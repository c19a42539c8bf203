import { FossilError } from "../error.ts";
import { type Lines, LineTable, matchSequences } from "../text/mod.ts";
import type { FileVersion } from "./file_versions.ts";
import type { Reader } from "./reader.ts";

/** Memory that the lines of versions may take before they are read anew, in bytes. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Approximate memory of a cached comparison without matches, in bytes. */
const MATCHES_BYTES = 500;

/**
 * Runs of equal lines of two versions, in order: for each, the number of its first line in the one
 * and in the other, from 0, and its length.
 */
export type Matches = Int32Array;

/**
 * Compares the versions of a file, each with the one before. Where one is stored as a delta of the
 * other, neither text is needed: the lines that the delta copies are the same.
 */
export class VersionMatches {
  readonly #reader: Reader;
  readonly #maxBytes: number;
  #table = new LineTable();
  /** The lines of the version that was read last. */
  #last: { readonly file: number; readonly lines: Lines } | null = null;

  /** @param maxBytes the largest text to compare */
  constructor(reader: Reader, maxBytes: number) {
    this.#reader = reader;
    this.#maxBytes = maxBytes;
  }

  /**
   * What a version, which is no binary, has in common with an older one: nothing if that one is
   * binary, or its content is missing.
   *
   * @throws {FossilError} `limit` if a text is too large; `corrupt`
   */
  between(newer: FileVersion, older: FileVersion): Matches {
    return this.#reader.ofContents(`matches ${newer.uuid} ${older.uuid}`, () => {
      const left = this.#linesOf(newer);
      const right = this.#olderLines(newer, left, older);
      if (right === null) return null;
      this.#last = { file: older.file, lines: right };
      const value = matchesOf(left, right);
      return { value, bytes: MATCHES_BYTES + value.byteLength };
    }) ?? NOTHING;
  }

  #linesOf({ file }: FileVersion): Lines {
    if (this.#last?.file === file && this.#table.heldBytes < MAX_HELD_BYTES) {
      return this.#last.lines;
    }
    this.#table = new LineTable();
    return this.#split(this.#reader.repository.store.require(file));
  }

  #split(text: Uint8Array): Lines {
    if (text.length <= this.#maxBytes) return this.#table.split(text);
    throw new FossilError("limit", `A text of ${text.length} bytes is not compared`);
  }

  /** Null for a binary file, and for content that is missing. */
  #olderLines(newer: FileVersion, left: Lines, older: FileVersion): Lines | null {
    const { store } = this.#reader.repository;
    const delta = store.sourceOf(older.file) === newer.file ? store.getDelta(older.file) : null;
    if (delta !== null) return this.#table.patch(left, delta, this.#maxBytes);
    const text = store.get(older.file);
    return text === null || text.includes(0) ? null : this.#split(text);
  }
}

const NOTHING = new Int32Array(0);

function matchesOf(left: Lines, right: Lines): Matches {
  const matches = matchSequences(left.ids, right.ids);
  return Int32Array.from(matches.flatMap(({ left, right, length }) => [left, right, length]));
}
