import { Unavailable } from "../../kernel/errors.ts";
import type { Project } from "./records.ts";

type Named = Pick<Project, "id" | "slug">;

/** A file as it was at its first use. */
interface Known {
  readonly identity: string;
}

/**
 * Notices when another program replaces or removes the repository file of a project. SQLite would
 * go on with the open file, which has no name any more, and all that it writes would be lost.
 */
export class FilesInPlace {
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
