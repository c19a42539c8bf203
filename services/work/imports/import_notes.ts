/** What stays of an import that the end of the server interrupts: a file for each that runs. */
import { join } from "node:path";
import { writeSynced } from "../../kernel/files.ts";
import type { Project } from "../projects/mod.ts";

/** An import that has begun. */
export interface ImportNote {
  readonly url: string;
  readonly started_at: string;
}

/** Notes of imports, in the folder of the repositories. */
export class ImportNotes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Notes that an import begins. */
  async begin(project: Pick<Project, "id">, note: ImportNote): Promise<void> {
    await writeSynced(this.#pathOf(project), JSON.stringify(note));
  }

  /** The note of an import that has not ended; null for none. */
  async read(project: Pick<Project, "id">): Promise<ImportNote | null> {
    try {
      return JSON.parse(await Deno.readTextFile(this.#pathOf(project)));
    } catch (error) {
      // Half a note is one of an import that had not begun.
      const isNone = error instanceof Deno.errors.NotFound || error instanceof SyntaxError;
      if (isNone) return null;
      throw error;
    }
  }

  /** Notes that an import has ended. */
  async end(project: Pick<Project, "id">): Promise<void> {
    await Deno.remove(this.#pathOf(project)).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }

  #pathOf({ id }: Pick<Project, "id">): string {
    return join(this.#folder, `.import-${id}.json`);
  }
}
