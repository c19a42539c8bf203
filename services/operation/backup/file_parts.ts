/** Bytes that are read at once. */
const STEP = 1024 * 1024;

/** The first bytes of a file that belong to a copy of it. */
export interface FilePart {
  /** What follows the name of the copied file, such as `-wal`. */
  readonly suffix: string;
  readonly file: Deno.FsFile;
  readonly bytes: number;
}

/**
 * Reads the bytes of a part, a piece at a time. A piece is valid until the next one is read. Bytes
 * that the file has lost meanwhile are zeros, so that the length stays as announced.
 */
export function* readParts({ file, bytes }: FilePart): IterableIterator<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(Math.min(STEP, Math.max(bytes, 1)));
  file.seekSync(0, Deno.SeekMode.Start);
  for (let left = bytes; left > 0;) {
    const room = buffer.subarray(0, Math.min(left, buffer.length));
    const read = file.readSync(room) ?? 0;
    if (read === 0) room.fill(0);
    const piece = read === 0 ? room : room.subarray(0, read);
    left -= piece.length;
    yield piece;
  }
}
