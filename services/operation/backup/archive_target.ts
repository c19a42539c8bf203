import { FORMAT, HEADER_NAME, type Manifest, MANIFEST_NAME, type StoredFile } from "./manifest.ts";
import { BLOCK, padding, tarHeader } from "./tar.ts";
import { type BackupTarget, explainDisk, hashing, type NewFile, writeAll } from "./target.ts";
import { renameSynced } from "../../kernel/files.ts";

/** Where the bytes of an archive go. */
export interface ByteSink {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}

/** One archive with the whole backup: a tar file, which also other programs read. */
export class ArchiveTarget implements BackupTarget {
  readonly #sink: ByteSink;
  readonly #time: number;

  /** @param time the archive's, in Unix milliseconds */
  constructor(sink: ByteSink, time: number) {
    this.#sink = sink;
    this.#time = Math.floor(time / 1000);
  }

  known(): readonly StoredFile[] {
    return [];
  }

  async begin(header: Pick<Manifest, "format" | "muster">): Promise<void> {
    await this.#writeText(HEADER_NAME, header);
  }

  async write({ name, bytes, state, pieces }: NewFile): Promise<StoredFile> {
    await this.#sink.write(tarHeader({ name, bytes }, this.#time));
    const sha256 = await hashing(pieces, (piece) => this.#sink.write(piece));
    await this.#sink.write(padding(bytes));
    return { name, bytes, sha256, state };
  }

  async finish(manifest: Manifest): Promise<void> {
    await this.#writeText(MANIFEST_NAME, manifest);
    await this.#sink.write(new Uint8Array(2 * BLOCK));
    await this.#sink.close();
  }

  async abort(): Promise<void> {
    await this.#sink.abort();
  }

  async #writeText(name: string, value: unknown): Promise<void> {
    const piece = new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`);
    await this.write({ name, bytes: piece.length, state: null, pieces: [piece] });
  }
}

/**
 * A file that appears under its name when it is whole, and that only its owner may read.
 *
 * @throws BackupError if it exists, or cannot be written
 */
export async function fileSink(path: string): Promise<ByteSink> {
  const part = `${path}.part`;
  const explaining = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw explainDisk(error, path);
    }
  };
  const options = { write: true, create: true, truncate: true, mode: 0o600 };
  const file = await explaining(() => Deno.open(part, options));
  return {
    write: (bytes) => explaining(() => writeAll(file, bytes)),
    close: () =>
      explaining(async () => {
        await file.sync();
        file.close();
        await renameSynced(part, path);
      }),
    abort: async () => {
      file.close();
      await Deno.remove(part);
    },
  };
}

/** Compresses with gzip what goes to another sink. */
export function gzipSink(sink: ByteSink): ByteSink {
  const compression = new CompressionStream("gzip");
  const writer = compression.writable.getWriter();
  const pumped = pump(compression.readable, sink);
  pumped.catch(() => {});
  // A failure of the sink cancels the compression, which then has no reason of its own.
  const explaining = (work: Promise<void>) =>
    work.catch(async (error) => {
      await pumped;
      throw error;
    });
  return {
    write: (bytes) => explaining(writer.write(bytes)),
    close: async () => {
      await explaining(writer.close());
      await pumped;
      await sink.close();
    },
    abort: async () => {
      await writer.abort().catch(() => {});
      await pumped.catch(() => {});
      await sink.abort();
    },
  };
}

async function pump(stream: ReadableStream<Uint8Array<ArrayBuffer>>, sink: ByteSink) {
  for await (const bytes of stream) await sink.write(bytes);
}

/** The first entry's content. */
export function headerOf(version: string): Pick<Manifest, "format" | "muster"> {
  return { format: FORMAT, muster: version };
}
