import { join } from "node:path";
import { Conflict, Invalid } from "../../kernel/errors.ts";
import {
  type Project,
  type ProjectHomes,
  type ProjectRepositories,
  serviceErrorOf,
} from "../../work/projects/mod.ts";
import type { Uploads } from "../../work/releases/mod.ts";
import { createHash } from "node:crypto";

/** The part that is the repository; the others are unfinished uploads, by their id. */
export const REPOSITORY = "repository";

/** The name of a part; it becomes the name of a file. */
export const PART_NAME = /^(?:repository|[0-9A-Z]{26})$/;

/** A part with its length and the SHA-256 of its content. */
export interface PartSum {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ArrivingCopiesOptions {
  readonly repositories: Pick<ProjectRepositories, "files">;
  readonly homes: Pick<ProjectHomes, "isHere">;
  readonly uploads: Pick<Uploads, "place">;
}

/** Copies of projects that other nodes send here. One is used only once its project's home is here. */
export class ArrivingCopies {
  readonly #options: ArrivingCopiesOptions;
  readonly #folder: string;

  private constructor(options: ArrivingCopiesOptions) {
    this.#options = options;
    this.#folder = join(options.repositories.files.folder, ".moves");
  }

  /** Drops what moves have left that did not end. */
  static async open(options: ArrivingCopiesOptions): Promise<ArrivingCopies> {
    const copies = new ArrivingCopies(options);
    await removeFolder(copies.#folder);
    return copies;
  }

  /**
   * Begins a copy; an earlier one is dropped.
   *
   * @throws Conflict if the project is here
   */
  async begin(project: Project): Promise<void> {
    this.#requireElsewhere(project);
    await removeFolder(this.#folderOf(project));
    await Deno.mkdir(this.#folderOf(project), { recursive: true, mode: 0o700 });
  }

  /** Drops a copy. */
  async drop(project: Project): Promise<void> {
    await removeFolder(this.#folderOf(project));
  }

  /**
   * Writes a piece of a part.
   *
   * @param offset in bytes
   * @throws Conflict if the project is here; Unavailable if the disk refuses it
   */
  async write(
    project: Project,
    { name, offset }: { readonly name: string; readonly offset: number },
    body: ReadableStream<Uint8Array> | null,
  ): Promise<void> {
    this.#requireElsewhere(project);
    const path = this.#pathOf(project, name);
    await translated(async () => {
      using file = await Deno.open(path, { write: true, create: true });
      await file.seek(offset, Deno.SeekMode.Start);
      for await (const piece of body ?? []) {
        for (let written = 0; written < piece.length;) {
          written += await file.write(piece.subarray(written));
        }
      }
    });
  }

  /**
   * Verifies each artifact of the repository.
   *
   * @throws Invalid if one is damaged; Unavailable if the disk has no room for a second copy
   */
  async verify(project: Project): Promise<void> {
    const path = this.#pathOf(project, REPOSITORY);
    // SQLite may change the file that it opens, and this one must become equal to another.
    const copy = `${path}.verified`;
    try {
      await translated(() => Deno.copyFile(path, copy));
      await this.#options.repositories.files.verify(copy);
    } finally {
      await Deno.remove(copy).catch(() => {});
    }
  }

  /**
   * Checks that each part is as it was sent, and puts it in its place.
   *
   * @throws Invalid if a part differs
   */
  async finish(project: Project, sums: readonly PartSum[]): Promise<void> {
    this.#requireElsewhere(project);
    for (const sum of sums) await this.#check(project, sum);
    const { repositories: { files }, uploads } = this.#options;
    await files.place(project, this.#pathOf(project, REPOSITORY));
    for (const { name } of sums) {
      if (name !== REPOSITORY) await uploads.place(name, this.#pathOf(project, name));
    }
    await this.drop(project);
  }

  async #check(project: Project, { name, bytes, sha256 }: PartSum): Promise<void> {
    const path = this.#pathOf(project, name);
    {
      using file = await Deno.open(path, { write: true, create: true });
      await file.truncate(bytes);
      await file.sync();
    }
    const sum = await sumOf(path);
    if (sum.bytes === bytes && sum.sha256 === sha256) return;
    throw new Invalid(`The copy of "${project.slug}" differs from what was sent`);
  }

  /** @throws Conflict if the project is here */
  #requireElsewhere(project: Project): void {
    if (!this.#options.homes.isHere(project)) return;
    throw new Conflict(`The project "${project.slug}" is on this node already`);
  }

  #folderOf({ id }: Project): string {
    return join(this.#folder, id);
  }

  #pathOf(project: Project, name: string): string {
    if (!PART_NAME.test(name)) throw new Invalid(`"${name}" is no part of a copy`);
    return join(this.#folderOf(project), name);
  }
}

/** Turns what the system refuses into an error that tells the other node why. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw serviceErrorOf(error) ?? error;
  }
}

async function removeFolder(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/** The length of a file, and the SHA-256 of its content in hex. */
interface FileSum {
  readonly bytes: number;
  readonly sha256: string;
}

/** Computes the sum of a file. */
export async function sumOf(path: string): Promise<FileSum> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await Deno.open(path);
  for await (const part of file.readable) {
    hash.update(part);
    bytes += part.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
