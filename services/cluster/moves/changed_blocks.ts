import { Buffer } from "node:buffer";

/** The unit of comparison, in bytes. */
const BLOCK = 1024 * 1024;

/** A part of a file. */
export interface Range {
  readonly offset: number;
  /** Bytes. */
  readonly length: number;
}

/**
 * The parts of a file that differ from an earlier state of it, which the earlier state must take on
 * to become equal once it has the same length.
 *
 * @param earlier the path of the earlier state
 */
export async function changedBlocks(earlier: string, path: string): Promise<readonly Range[]> {
  using before = await Deno.open(earlier);
  using now = await Deno.open(path);
  const ranges: Range[] = [];
  const [old, new_] = [new Uint8Array(BLOCK), new Uint8Array(BLOCK)];
  for (let offset = 0;; offset += BLOCK) {
    const length = await fill(now, new_);
    if (length === 0) return ranges;
    const oldLength = await fill(before, old);
    if (oldLength >= length && isEqual(old.subarray(0, length), new_.subarray(0, length))) continue;
    const last = ranges.at(-1);
    if (last !== undefined && last.offset + last.length === offset) {
      ranges[ranges.length - 1] = { offset: last.offset, length: last.length + length };
    } else ranges.push({ offset, length });
  }
}

/** A part of a file as a stream. */
export async function* partOf(path: string, { offset, length }: Range): AsyncGenerator<Uint8Array> {
  using file = await Deno.open(path);
  await file.seek(offset, Deno.SeekMode.Start);
  for (let left = length; left > 0;) {
    const buffer = new Uint8Array(Math.min(left, BLOCK));
    const read = await file.read(buffer);
    if (read === null) throw new Error("The file has become shorter");
    left -= read;
    yield buffer.subarray(0, read);
  }
}

async function fill(file: Deno.FsFile, buffer: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const read = await file.read(buffer.subarray(filled));
    if (read === null) break;
    filled += read;
  }
  return filled;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
