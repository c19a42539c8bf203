import { BackupError } from "./names.ts";
import { BLOCK, padding, readTarHeader, type TarEntry } from "./tar.ts";

/** The first bytes of a file that gzip compressed. */
const GZIP = [0x1f, 0x8b];

/** Bytes that are read at once. */
const STEP = 256 * 1024;

/** Opens an archive, compressed or not. */
export async function openArchive(path: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const file = await Deno.open(path);
  const head = new Uint8Array(GZIP.length);
  await file.read(head);
  await file.seek(0, Deno.SeekMode.Start);
  const isCompressed = GZIP.every((byte, place) => head[place] === byte);
  return isCompressed ? file.readable.pipeThrough(new DecompressionStream("gzip")) : file.readable;
}

/** Reads an archive from its beginning to its end, in pieces of bounded length. */
export class ArchiveReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  #rest = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = stream.getReader();
  }

  /**
   * Reads the header of the next file; read its content before the next call.
   *
   * @returns null at the end
   * @throws BackupError if the archive is damaged or ends early
   */
  async next(): Promise<TarEntry | null> {
    const block = new Uint8Array(BLOCK);
    let filled = 0;
    for await (const piece of this.#pieces(BLOCK)) {
      block.set(piece, filled);
      filled += piece.length;
    }
    return readTarHeader(block);
  }

  /**
   * Reads the content of a file.
   *
   * @throws BackupError if the archive is damaged or ends early
   */
  async *content({ bytes }: TarEntry): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    yield* this.#pieces(bytes);
    for await (const _ of this.#pieces(padding(bytes).length));
  }

  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }

  async *#pieces(bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let left = bytes; left > 0;) {
      if (this.#rest.length === 0) this.#rest = await this.#read();
      const piece = this.#rest.subarray(0, Math.min(left, STEP));
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async #read(): Promise<Uint8Array<ArrayBuffer>> {
    let result;
    try {
      result = await this.#reader.read();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BackupError(`The archive is damaged, or ends early: ${reason}`);
    }
    if (result.done) throw new BackupError("The archive ends early: a part of it is missing");
    return result.value;
  }
}
