/** Bytes read at a time. */
const PIECE_BYTES = 64 * 1024;

/**
 * Reads a file or standard input piece by piece into one buffer, which makes no garbage. A piece is
 * valid until the next one is requested.
 */
export async function* readPieces(
  source: { read(buffer: Uint8Array): Promise<number | null> },
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(PIECE_BYTES);
  for (;;) {
    const count = await source.read(buffer);
    if (count === null) return;
    yield buffer.subarray(0, count);
  }
}
