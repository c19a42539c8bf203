import { readDiff } from "./diff.ts";
import type { Reader } from "./reader.ts";
import type { FileDiff } from "./shapes.ts";
import { TextMap, TextSet } from "../text/mod.ts";
import { firstIndex } from "../../../kernel/first_index.ts";

/** A line of a file, from 1. */
export interface LinePlace {
  readonly path: string;
  readonly line: number;
}

/** Lines of one check-in to be found in another. */
export interface LinePlaceOptions {
  readonly from: string;
  readonly to: string;
  readonly lines: readonly LinePlace[];
}

/**
 * Where lines of one check-in are in another, in the same order; null for a line that has changed or
 * gone, or whose file cannot be compared. Compares each file once.
 *
 * @throws {FossilError} `missing` or `ambiguous` if a name fits no check-in or several
 */
export function readLinePlaces(
  reader: Reader,
  { from, to, lines }: LinePlaceOptions,
): (LinePlace | null)[] {
  const names = new TextSet(lines.map(({ path }) => path));
  const { files } = readDiff(reader, { from, to, names, context: 0 });
  const changes = new TextMap(
    files.map((file) => [file.prev_name ?? file.name, new FileChange(file)]),
  );
  return lines.map((place) =>
    changes.get(place.path)?.placeAfter(place.line) ?? (
      changes.has(place.path) ? null : place
    )
  );
}

/** The changed lines of a unified diff without context. */
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm;

/** What happened to the lines of a file. */
class FileChange {
  readonly #file: FileDiff;
  readonly #hunks: { readonly from: number; readonly count: number; readonly shift: number }[] = [];

  constructor(file: FileDiff) {
    this.#file = file;
    let shift = 0;
    for (const [, start, length, , added] of file.diff.matchAll(HUNK)) {
      const count = Number(length ?? 1);
      // A hunk that deletes nothing names the line before it.
      const from = Number(start) + (count === 0 ? 1 : 0);
      shift += Number(added ?? 1) - count;
      this.#hunks.push({ from, count, shift });
    }
  }

  placeAfter(line: number): LinePlace | null {
    const { uuid, prev_uuid, name: path, is_binary, is_truncated, unreadable } = this.#file;
    if (uuid === null || is_binary || is_truncated || unreadable !== null) return null;
    if (uuid === prev_uuid) return { path, line };
    const hunk = this.#hunks[this.#lastHunk(line)];
    if (hunk === undefined) return { path, line };
    return line < hunk.from + hunk.count ? null : { path, line: line + hunk.shift };
  }

  /** The last hunk that begins at a line or before; -1 for none. */
  #lastHunk(line: number): number {
    return firstIndex(this.#hunks.length, (index) => this.#hunks[index]!.from > line) - 1;
  }
}
