import { Buffer } from "node:buffer";

/** A text as lines: the same line has the same number in every text of one `LineTable`. */
export interface Lines {
  readonly bytes: Uint8Array;
  /** Number of each line; its line end is part of it. */
  readonly ids: Int32Array;
  /** Where each line begins, and at the end the length of the text. */
  readonly offsets: Int32Array;
}

/** Numbers lines. Compares bytes, so that any encoding and any line end is kept. */
export class LineTable {
  readonly #ids = new Map<string, number>();

  /** Splits a text after each line feed; the last line may have none. */
  split(bytes: Uint8Array): Lines {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    const ids: number[] = [];
    const offsets: number[] = [];
    for (let start = 0; start < text.length;) {
      const feed = text.indexOf("\n", start);
      const end = feed < 0 ? text.length : feed + 1;
      ids.push(this.#idOf(text.slice(start, end)));
      offsets.push(start);
      start = end;
    }
    offsets.push(text.length);
    return { bytes, ids: Int32Array.from(ids), offsets: Int32Array.from(offsets) };
  }

  #idOf(line: string): number {
    const known = this.#ids.get(line);
    if (known !== undefined) return known;
    const id = this.#ids.size;
    this.#ids.set(line, id);
    return id;
  }
}

/** The bytes of some lines. */
export function sliceLines(lines: Lines, start: number, end: number): Uint8Array {
  return lines.bytes.subarray(lines.offsets[start]!, lines.offsets[end]!);
}
