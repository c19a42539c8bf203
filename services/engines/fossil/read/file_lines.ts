import { MAX_FILE_LINES } from "./bounds.ts";
import { Buffer } from "node:buffer";
import { type PathOptions, readFile } from "./file.ts";
import { lfsPointerOf } from "./lfs_pointer.ts";
import { FossilError } from "../error.ts";
import type { Reader } from "./reader.ts";
import type { FileLines } from "./shapes.ts";

/** Most bytes that are shown of a line, and of all lines together. */
const [MAX_LINE_BYTES, MAX_BYTES] = [20_000, 2 * 1024 * 1024];

const FEED = 10;
const RETURN = 13;

/** Which lines of a file to read. */
export interface FileLineOptions extends PathOptions {
  /** Number of the first line, from 1; 1 if absent. */
  readonly first?: number;
  /** At most so many lines, {@link MAX_FILE_LINES} if absent. Long lines make it fewer. */
  readonly count?: number;
}

/**
 * Some lines of a file at a check-in. A file that is binary has none.
 *
 * @throws {FossilError} `missing` if there is no such file, check-in or content; `ambiguous`;
 * `invalid` if a number is none from 1
 */
export function readFileLines(reader: Reader, options: FileLineOptions): FileLines {
  const { first = 1, count = MAX_FILE_LINES } = options;
  for (const number of [first, count]) {
    if (Number.isSafeInteger(number) && number >= 1) continue;
    throw new FossilError("invalid", `"${number}" is not a number of a line`);
  }
  const { content, ...file } = readFile(reader, options);
  const size = content.length;
  const bytes = Buffer.from(content.buffer, content.byteOffset, size);
  if (file.is_binary) {
    return { ...file, size, total_lines: 0, first, lines: [], cut_lines: [], lfs: null };
  }
  const lines: string[] = [];
  const cut_lines: number[] = [];
  const end = first + Math.min(count, MAX_FILE_LINES);
  let [number, taken] = [1, 0];
  for (let start = 0; start < size; number++) {
    const feed = bytes.indexOf(FEED, start);
    const next = feed < 0 ? size : feed + 1;
    if (number >= first && number < end && taken < MAX_BYTES) {
      const { text, isCut } = lineOf(bytes, start, feed < 0 ? size : feed);
      lines.push(text);
      taken += text.length;
      if (isCut) cut_lines.push(number);
    }
    start = next;
  }
  const lfs = lfsPointerOf(content);
  return { ...file, size, total_lines: number - 1, first, lines, cut_lines, lfs };
}

/** The text of a line, which ends at a character even where it is cut. */
function lineOf(bytes: Buffer, start: number, end: number): { text: string; isCut: boolean } {
  const last = end > start && bytes[end - 1] === RETURN ? end - 1 : end;
  if (last - start <= MAX_LINE_BYTES) {
    return { text: bytes.toString("utf8", start, last), isCut: false };
  }
  let stop = start + MAX_LINE_BYTES;
  while (((bytes[stop] ?? 0) & 0xc0) === 0x80) stop--;
  return { text: bytes.toString("utf8", start, stop), isCut: true };
}
