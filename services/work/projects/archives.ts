import { join } from "node:path";
import type { ArchiveFormat } from "../../engines/fossil/mod.ts";
import { CallerQuota, type Holder } from "../../people/identity/mod.ts";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Archives that may be made or read at the same time. */
const MAX_ARCHIVES = 16;
/** What callers who hit that limit are told. */
const WORDS = { things: "archives", state: "being read", retrySeconds: 10 } as const;

/** The files of a check-in in one file. */
export interface Archive {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Bytes. */
  readonly size: number;
  /** Files whose content cannot be read. */
  readonly leftOut: number;
}

/** Packs check-ins into archive files. A file is removed when its reader is done. */
export class RepositoryArchives {
  readonly #files: RepositoryFiles;
  readonly #quota = new CallerQuota(MAX_ARCHIVES, WORDS);

  constructor(files: RepositoryFiles) {
    this.#files = files;
  }

  /**
   * Packs a check-in.
   *
   * @throws TooMany if the caller, or all callers, have too many archives underway already
   * @throws ServiceError in place of the engine's errors
   */
  async make(
    project: Project,
    { checkin, format, signal, caller }: {
      readonly checkin: string;
      readonly format: ArchiveFormat;
      readonly signal: AbortSignal;
      readonly caller: Holder;
    },
  ): Promise<Archive> {
    const held = this.#quota.take(caller);
    try {
      return await this.#make(project, async (target) => {
        const { left_out: leftOut } = await this.#files.use(
          project,
          (repository) => repository.archive({ checkin, format, target }, { signal }),
        );
        const file = await Deno.open(target);
        const { size } = await file.stat();
        return { readable: endingWith(file.readable, held), size, leftOut };
      });
    } catch (error) {
      held[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Calls `work` with the path of a new file and removes the file afterwards; open handles stay
   * readable.
   */
  async #make<T>(project: Project, work: (target: string) => Promise<T>): Promise<T> {
    const folder = await Deno.makeTempDir({ dir: this.#files.folder, prefix: ".archive-" });
    try {
      return await work(join(folder, project.slug));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
}

/** The same bytes; disposes of something when all of them are read, or the reader gives up. */
function endingWith(
  readable: ReadableStream<Uint8Array<ArrayBuffer>>,
  held: Disposable,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = readable.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        held[Symbol.dispose]();
        controller.close();
      } catch (error) {
        held[Symbol.dispose]();
        throw error;
      }
    },
    async cancel(reason) {
      held[Symbol.dispose]();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
