import { join } from "node:path";
import { Conflict, Invalid, Unavailable } from "../../kernel/errors.ts";
import {
  companionPath,
  errorCodeOf,
  packPath,
  type RepositoryPool,
  searchIndexPath,
} from "../../engines/fossil/front/mod.ts";
import type {
  CallOptions,
  ImportFrom,
  ImportReport,
  PooledRepository,
  RepositoryPlace,
} from "../../engines/fossil/mod.ts";
import { serviceErrorOf } from "./errors/mod.ts";
import type { ProjectHomes } from "./homes.ts";
import type { OlderCopies } from "./older_copies.ts";
import type { Project } from "./records.ts";
import { renameSynced } from "../../kernel/files.ts";

type Named = Pick<Project, "id" | "slug">;

/** A file as it was at its first use. */
interface Known {
  readonly identity: string;
}

/**
 * Notices when another program replaces or removes the repository file of a project. SQLite would
 * go on with the open file, which has no name any more, and all that it writes would be lost.
 */
class FilesInPlace {
  /** By the project's id. */
  readonly #known = new Map<string, Known>();
  /** The ids of projects whose file was replaced or removed. */
  readonly #displaced = new Set<string>();

  /** What is wrong with the files, without the names of private projects; null if nothing is known. */
  get trouble(): string | null {
    const count = this.#displaced.size;
    if (count === 0) return null;
    return `${count} of the projects' files replaced or removed by another program; see the log`;
  }

  /**
   * Checks that a project's file is the one of its first use.
   *
   * @throws Unavailable if it is another file or absent; also in later calls, until `forget`
   */
  require(project: Named, path: string): void {
    const known = this.#known.get(project.id);
    if (known !== undefined) this.#compare(project, known, identityOf(path));
  }

  /**
   * Begins to use a project's open file: like `require`, and remembers the file at the first use.
   *
   * @returns repeats the check, unless `forget` was called meanwhile
   */
  begin(project: Named, path: string): () => void {
    const now = identityOf(path);
    const known = this.#known.get(project.id) ?? { identity: now ?? "" };
    this.#compare(project, known, now);
    this.#known.set(project.id, known);
    return () => {
      if (this.#known.get(project.id) !== known) return;
      this.#compare(project, known, identityOf(path));
    };
  }

  /** Forgets a file that this service replaces or removes. */
  forget({ id }: Named): void {
    this.#known.delete(id);
    this.#displaced.delete(id);
  }

  #compare(project: Named, known: Known, now: string | null): void {
    if (known.identity === now && !this.#displaced.has(project.id)) return;
    throw this.#refusal(project);
  }

  #refusal({ id, slug }: Named): Unavailable {
    this.#displaced.add(id);
    return new Unavailable(
      `The repository file of "${slug}" was replaced or removed while muster ran. Stop muster, ` +
        "put the right file in its place, remove the files -wal and -shm beside it, and start muster",
    );
  }
}

/** What tells a file from every other one, without opening it; null if there is none. */
function identityOf(path: string): string | null {
  try {
    const { dev, ino, birthtime } = Deno.statSync(path);
    return `${dev} ${ino} ${birthtime?.getTime()}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new Unavailable("The repository file cannot be read", { cause: error });
  }
}

/** The first user of every repository, and the author of its first check-in. */
const REPOSITORY_ADMIN = "muster";

/** How long the file of a project that was moved to another node is kept, in milliseconds. */
const MOVED_KEPT = 24 * 60 * 60 * 1000;

/** Where files go that no project uses, until they are old. */
export type AsideFolder = "removed" | "moved";

/** Suffixes of a SQLite database's files. */
const ENDINGS = ["", "-wal", "-shm", "-journal"];

/** Temporary folders of uploads, exports, archives, downloads and packs. */
const LEFT_FOLDER = /^\.(?:upload|export|archive|download|pack)-/;
const LEFT_DRAFT = /\.import(?:-draft|\.objects|\.pack|\.pack-next)?(?:-wal|-shm|-journal)?$/;

/**
 * The repository files of projects: `SLUG.fossil` in one folder. Removed files go to its subfolder
 * `removed`, and stay there until their retention ends. Turns the engine's errors into service errors.
 */
export class RepositoryFiles {
  readonly folder: string;
  readonly #inPlace = new FilesInPlace();
  readonly #pool: RepositoryPool;
  readonly #homes: Pick<ProjectHomes, "require">;
  readonly #copies: Pick<OlderCopies, "require" | "compare" | "forget">;
  /** By the project's id. */
  readonly #handles = new Map<string, Promise<PooledRepository>>();
  /** Projects whose file is being replaced, by id, with the promise that ends then. */
  readonly #closed = new Map<string, Promise<void>>();

  constructor(options: {
    readonly folder: string;
    readonly pool: RepositoryPool;
    readonly homes: Pick<ProjectHomes, "require">;
    readonly copies: Pick<OlderCopies, "require" | "compare" | "forget">;
  }) {
    this.folder = options.folder;
    this.#pool = options.pool;
    this.#homes = options.homes;
    this.#copies = options.copies;
  }

  /** Removes the temporary folders that a killed process left. */
  async sweep(): Promise<void> {
    for await (const { name, isDirectory, isFile } of Deno.readDir(this.folder)) {
      const isLeft = isDirectory && LEFT_FOLDER.test(name) || isFile && LEFT_DRAFT.test(name);
      if (isLeft) await Deno.remove(join(this.folder, name), { recursive: true });
    }
  }

  /** Keeps fewer files open: the process has no file descriptors left. */
  openFewer(): void {
    this.#pool.openFewer();
  }

  /** The repository file of a project. */
  pathOf({ slug }: Pick<Project, "slug">): string {
    return join(this.folder, `${slug}.fossil`);
  }

  /**
   * Works with a project's repository. Checks before and after that its file is still in place, so
   * that nothing is acknowledged that went to a file without a name.
   *
   * @throws ServiceError in place of the engine's errors
   * @throws Unavailable if another program replaced or removed the file, or it is an older copy
   */
  async use<T>(
    project: Pick<Project, "id" | "slug">,
    work: (repository: PooledRepository) => Promise<T>,
  ): Promise<T> {
    await this.#closed.get(project.id);
    this.#homes.require(project);
    this.#copies.require(project);
    return await translated(async () => {
      const repository = await this.#open(project);
      const requireInPlace = this.#inPlace.begin(project, this.pathOf(project));
      const result = await work(repository);
      requireInPlace();
      return result;
    });
  }

  /**
   * Checks that no other program has replaced or removed a project's file since its first use.
   * Blocks for a few microseconds.
   *
   * @throws Unavailable if one has, until a restart; or if the file is an older copy
   */
  requireInPlace(project: Pick<Project, "id" | "slug">): void {
    this.#copies.require(project);
    this.#inPlace.require(project, this.pathOf(project));
  }

  /** What is wrong with the files, without the names of projects; null if nothing is known. */
  get trouble(): string | null {
    return this.#inPlace.trouble;
  }

  /** How far a repository goes: what was received last, by any program. */
  endOf(project: Pick<Project, "id" | "slug">): Promise<RepositoryPlace> {
    return this.use(
      project,
      async (repository) => (await repository.received({ after: null, limit: 0 })).place,
    );
  }

  /** Makes an empty repository. A file that no project owns is moved aside first. */
  async create(project: Project): Promise<void> {
    const path = this.pathOf(project);
    await translated(async () => {
      await this.#moveAside(path, project.id);
      await this.#pool.create(path, {
        admin: REPOSITORY_ADMIN,
        projectName: project.name,
        description: project.description,
        date: project.createdAt,
      });
    });
  }

  /**
   * Replaces a project's repository with one that is made from a file.
   *
   * @throws ServiceError in place of the errors of the engine and of the disk
   */
  async replace(
    project: Project,
    from: ImportFrom,
    { mayReplace, ...options }: CallOptions & { readonly mayReplace: () => Promise<void> },
  ): Promise<ImportReport> {
    const draft = join(this.folder, `${project.slug}.import`);
    await translated(() => removeFiles(draft));
    try {
      const create = { admin: REPOSITORY_ADMIN, projectName: project.name };
      const report = await translated(() =>
        this.#pool.import(draft, { create, from }, options).catch((error) => {
          throw refusedSource(error, from) ?? error;
        })
      );
      await mayReplace();
      const path = this.pathOf(project);
      await this.whileClosed(project, () =>
        translated(async () => {
          await removeFiles(path);
          await renameSynced(draft, path);
          // What is not there is made anew.
          for (const derivedPath of [companionPath, packPath]) {
            await Deno.rename(derivedPath(draft), derivedPath(path)).catch(() => {});
          }
        }));
      return report;
    } finally {
      // The next import or start removes what stays. An error here would hide the first one.
      await removeFiles(draft).catch(() => {});
    }
  }

  /**
   * Makes the folder for removed files.
   *
   * @throws Unavailable if the disk refuses it
   */
  async prepareRemoval(): Promise<void> {
    await translated(() => this.#asideFolder("removed"));
  }

  /**
   * Moves a project's file aside.
   *
   * @throws Unavailable if the disk refuses it
   */
  async remove(project: Pick<Project, "id" | "slug">): Promise<void> {
    const path = this.pathOf(project);
    await this.whileClosed(project, () =>
      translated(async () => {
        await this.#moveAside(path, project.id);
      }));
    this.#handles.delete(project.id);
  }

  /**
   * Verifies every artifact of a repository file that belongs to no project.
   *
   * @returns how far it goes
   * @throws Invalid if it is no repository, or is damaged
   */
  async verify(path: string): Promise<RepositoryPlace> {
    const place = await translated(async () => {
      const repository = await this.#pool.open(path);
      try {
        const { file: [fault], damages: [damage] } = await repository.verify();
        if (fault !== undefined) throw new Invalid(`The repository is damaged: ${fault}`);
        if (damage !== undefined) {
          throw new Invalid(`Artifact "${damage.hash}" is damaged: ${damage.reason}`);
        }
        return (await repository.received({ after: null, limit: 0 })).place;
      } finally {
        await repository.close();
      }
    });
    for (const file of filesOf(path)) if (file !== path) await removeIfThere(file);
    return place;
  }

  /** Puts a file in the place of a project's; a file that is there is moved aside. */
  async place(project: Pick<Project, "id" | "slug">, source: string): Promise<void> {
    const path = this.pathOf(project);
    await this.whileClosed(project, () =>
      translated(async () => {
        await this.#moveAside(path, project.id);
        await renameSynced(source, path);
      }));
    this.#handles.delete(project.id);
  }

  /**
   * Moves the file of a project that is on another node out of the way.
   *
   * @param folder the subfolder for it
   * @returns where it is now; null if there was none
   */
  setAside(project: Pick<Project, "id" | "slug">, folder: AsideFolder): Promise<string | null> {
    const path = this.pathOf(project);
    let aside: string | null = null;
    return this.whileClosed(project, () =>
      translated(async () => {
        aside = await this.#moveAside(path, project.id, folder);
      })).then(() => {
        this.#handles.delete(project.id);
        return aside;
      });
  }

  /** Removes the copies of moved projects that are older than a day. */
  removeMoved(now: number): Promise<void> {
    return this.removeAside("moved", now - MOVED_KEPT);
  }

  /** Removes files that were moved aside before a time, in Unix milliseconds. */
  async removeAside(kind: AsideFolder, before: number): Promise<void> {
    const folder = join(this.folder, kind);
    try {
      for await (const { name } of Deno.readDir(folder)) {
        const path = join(folder, name);
        // A rename changes the time of the change alone.
        const { ctime } = await Deno.stat(path);
        if ((ctime?.getTime() ?? before) < before) await removeIfThere(path);
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Closes a project's file, which this node has no more, or has anew. */
  async forget(project: Pick<Project, "id" | "slug">): Promise<void> {
    await this.whileClosed(project, () => Promise.resolve());
    this.#handles.delete(project.id);
  }

  /** Runs a task on a project's file while it is closed; readers and writers wait. */
  async whileClosed(
    project: Pick<Project, "id" | "slug">,
    work: () => Promise<void>,
  ): Promise<void> {
    const { id } = project;
    if (this.#closed.has(id)) throw new Conflict("The repository is being replaced already");
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed.set(id, promise);
    try {
      const handle = await this.#handles.get(id)?.catch(() => null);
      await handle?.close();
      this.#inPlace.forget(project);
      this.#copies.forget(project);
      await work();
    } finally {
      this.#closed.delete(id);
      resolve();
    }
  }

  #open(project: Pick<Project, "id" | "slug">): Promise<PooledRepository> {
    const { id } = project;
    const known = this.#handles.get(id);
    if (known !== undefined) return known;
    const opening = this.#openFile(project);
    this.#handles.set(id, opening);
    opening.catch(() => this.#handles.delete(id));
    return opening;
  }

  async #openFile(project: Pick<Project, "id" | "slug">): Promise<PooledRepository> {
    const repository = await this.#pool.open(this.pathOf(project)).catch((error) => {
      if (errorCodeOf(error) !== "unsupported") throw error;
      // The message of the engine names the path.
      const message = "The repository file is missing, or muster does not support it";
      throw new Unavailable(message, { cause: error });
    });
    try {
      await this.#copies.compare(project, repository);
      return repository;
    } catch (error) {
      await repository.close();
      throw error;
    }
  }

  async #asideFolder(name: AsideFolder): Promise<string> {
    const folder = join(this.folder, name);
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async #moveAside(
    path: string,
    id: string,
    kind: AsideFolder = "removed",
  ): Promise<string | null> {
    if (!await exists(path)) return null;
    const folder = await this.#asideFolder(kind);
    const name = path.slice(this.folder.length + 1).replace(/\.fossil$/, "");
    let target = join(folder, `${name}-${id}.fossil`);
    for (let copy = 2; await exists(target); copy++) {
      target = join(folder, `${name}-${id}-${copy}.fossil`);
    }
    const targets = filesOf(target);
    for (const [index, file] of filesOf(path).entries()) {
      if (await exists(file)) await Deno.rename(file, targets[index] ?? target);
    }
    return target;
  }
}

/** @throws ServiceError in place of the engine's errors */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw serviceErrorOf(error) ?? error;
  }
}

/** The fault of the file that a client sent, without its path; null for any other error. */
function refusedSource(error: unknown, { source }: ImportFrom): Invalid | null {
  const code = errorCodeOf(error);
  if (!(error instanceof Error) || (code !== "corrupt" && code !== "unsupported")) return null;
  const reason = error.message.replaceAll(`"${source}"`, "the file");
  return new Invalid(`The import is refused: ${reason}`, { cause: error });
}

/** The files of a repository: SQLite's, and what is derived beside it. */
function filesOf(path: string): string[] {
  const files = [path, searchIndexPath(path), companionPath(path), packPath(path)];
  return files.flatMap((file) => ENDINGS.map((ending) => file + ending));
}

async function removeFiles(path: string): Promise<void> {
  for (const file of filesOf(path)) await removeIfThere(file);
}

async function removeIfThere(file: string): Promise<void> {
  await Deno.remove(file).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
