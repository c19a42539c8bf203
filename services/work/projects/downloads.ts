import { join } from "node:path";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Bytes of all kept copies. */
const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_COPIES = 200;
/** Bytes of a range that are read at once. */
const PART_BYTES = 256 * 1024;
/** Attempts to open a copy that other downloads push out. */
const MAX_ATTEMPTS = 3;

/** An unversioned file, open for reading. */
export interface OpenFile {
  readonly uuid: string;
  readonly size: number;
  readonly file: Deno.FsFile;
}

interface Copy {
  readonly uuid: string;
  readonly size: number;
  readonly path: string;
}

/**
 * Copies of unversioned files on disk, which many can read at any position. A repository returns
 * such a file only as a whole, so a copy is kept while there is room. Content never changes under
 * its hash.
 */
export class RepositoryDownloads {
  readonly #files: RepositoryFiles;
  /** By project and hash, the least recently used first. */
  readonly #copies = new Map<string, Promise<Copy>>();
  #folder: Promise<string> | null = null;
  #bytes = 0;

  constructor(files: RepositoryFiles) {
    this.#files = files;
  }

  /**
   * Opens an unversioned file; the caller closes it. If the content under the name has changed,
   * opens the new content.
   *
   * @param uuid the hash of the file
   * @throws ServiceError in place of the engine's errors
   */
  async open(
    project: Project,
    { name, uuid }: { readonly name: string; readonly uuid: string },
  ): Promise<OpenFile> {
    for (let attempt = 1;; attempt++) {
      const { path, ...copy } = await this.#copyOf(project, name, uuid);
      try {
        return { ...copy, file: await Deno.open(path) };
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound) || attempt >= MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Removes every copy. */
  async close(): Promise<void> {
    const folder = await this.#folder;
    if (folder !== null) await Deno.remove(folder, { recursive: true });
  }

  #copyOf(project: Project, name: string, uuid: string): Promise<Copy> {
    const key = `${project.id} ${uuid}`;
    const known = this.#copies.get(key);
    this.#copies.delete(key);
    const copy = known ?? this.#make(project, name);
    this.#copies.set(key, copy);
    if (known === undefined) this.#keep(key, uuid, copy);
    return copy;
  }

  async #make(project: Project, name: string): Promise<Copy> {
    this.#folder ??= Deno.makeTempDir({ dir: this.#files.folder, prefix: ".download-" });
    const path = join(await this.#folder, crypto.randomUUID());
    const { uuid, size } = await this.#files.use(
      project,
      (repository) => repository.copyUnversioned({ name, target: path }),
    );
    return { uuid, size, path };
  }

  /** Counts a finished copy, and removes the oldest ones until the rest fits. */
  async #keep(key: string, uuid: string, making: Promise<Copy>): Promise<void> {
    try {
      const copy = await making;
      this.#bytes += copy.size;
      if (copy.uuid !== uuid) await this.#drop(key);
      for (const oldest of this.#copies.keys()) {
        if (oldest === key) break;
        if (this.#bytes <= MAX_BYTES && this.#copies.size <= MAX_COPIES) break;
        await this.#drop(oldest);
      }
    } catch {
      if (this.#copies.get(key) === making) this.#copies.delete(key);
    }
  }

  async #drop(key: string): Promise<void> {
    const making = this.#copies.get(key);
    this.#copies.delete(key);
    const copy = await making;
    if (copy === undefined) return;
    this.#bytes -= copy.size;
    await Deno.remove(copy.path);
  }
}

/**
 * A part of a file, which is closed at its end.
 *
 * @param start the first byte
 * @param end the first byte after the part
 */
export async function readPart(
  file: Deno.FsFile,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  await file.seek(start, Deno.SeekMode.Start);
  let left = end - start;
  return new ReadableStream({
    async pull(controller) {
      try {
        const part = new Uint8Array(Math.min(PART_BYTES, left));
        const length = left === 0 ? null : await file.read(part);
        if (length === null) {
          file.close();
          return controller.close();
        }
        left -= length;
        controller.enqueue(part.subarray(0, length));
      } catch (error) {
        file.close();
        throw error;
      }
    },
    cancel() {
      file.close();
    },
  }, { highWaterMark: 0 });
}
