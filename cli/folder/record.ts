/** What a folder knows of its project: the file `.muster/base.json`. */
import { dirname, join } from "node:path";
import { z } from "zod";
import { CommandFailed } from "../output.ts";

/** The folder with the record, and with files while they are written. */
export const RECORD_FOLDER = ".muster";
const RECORD_FILE = "base.json";

const commitSchema = z.string().regex(/^[0-9a-f]{40}$/);

const recordSchema = z.object({
  project: z.string().min(1),
  /** The branch that it came from, and into which its reviews go. */
  branch: z.string().min(1),
  /** The commit of that branch which was pulled last; null if the project was empty. */
  upstream: commitSchema.nullable(),
  /** The parents of the next commit. */
  parents: z.array(commitSchema).max(2),
  /** The workspace of what was pushed; null before the first push. */
  topic: z.string().nullable(),
  /** The commit of a push whose answer did not come: its tree, message and time in Unix seconds. */
  pending: z.object({ tree: commitSchema, message: z.string(), seconds: z.int() }).nullable(),
});

export type FolderRecord = z.output<typeof recordSchema>;

/** A folder of a project. */
export interface ProjectFolder {
  readonly path: string;
  readonly record: FolderRecord;
}

/**
 * The folder of a project in which a path is.
 *
 * @throws CommandFailed if a record cannot be read
 */
export function findFolder(path: string): ProjectFolder | null {
  for (let folder = path;; folder = dirname(folder)) {
    const record = readRecord(folder);
    if (record !== null) return { path: folder, record };
    if (dirname(folder) === folder) return null;
  }
}

/** @throws CommandFailed if it cannot be read */
export function readRecord(folder: string): FolderRecord | null {
  const path = join(folder, RECORD_FOLDER, RECORD_FILE);
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return null;
    }
    throw new CommandFailed(`${path} cannot be read`);
  }
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    throw new CommandFailed(`${path} is damaged: pull the project into another folder`);
  }
}

/** Writes the record whole, or leaves the earlier one. */
export function writeRecord(folder: string, record: FolderRecord): void {
  const place = join(folder, RECORD_FOLDER);
  Deno.mkdirSync(place, { recursive: true });
  const path = join(place, RECORD_FILE);
  Deno.writeTextFileSync(`${path}.new`, `${JSON.stringify(record, null, 2)}\n`);
  Deno.renameSync(`${path}.new`, path);
}
