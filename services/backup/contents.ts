import { join } from "node:path";
import { isDatabase } from "./sqlite_snapshot.ts";

/** The folders of a muster. */
export interface Folders {
  readonly data: string;
  /** The folder of the repositories, inside the data folder or elsewhere. */
  readonly projects: string;
}

/** A file that belongs into a backup. */
export interface SourceFile {
  /** Its name in the backup: relative, with `/`. */
  readonly name: string;
  readonly path: string;
  readonly isDatabase: boolean;
}

/** The name in backups of the folder with the repositories. */
export const PROJECTS = "projects";

/** The app database. */
export const APP_DATABASE = "muster.db";

/** Changes of the IRC history that a server moves into its database. */
export const HISTORY_JOURNAL = /^history\.journal\d$/;

/**
 * What is no part of the data: locks and addresses of the running program, SQLite's files beside a
 * database, copies of the database from before an upgrade, search indexes and mirrors, which muster
 * makes again, and unfinished work.
 */
const EXCLUDED: readonly RegExp[] = [
  /^(?:lock|endpoints\.json)$/,
  /-(?:wal|shm|journal)$/,
  /\.(?:new|part|index|tmp)$/,
  /\.db\.v\d+$/,
  /^\.(?:upload|export|archive|download|restore|mirrors)(?:-|$)/,
  /\.import(?:-draft)?$/,
  /\.muster-draft-[0-9a-f]{16}$/,
];

/** Finds the files of a backup, the app database first. Symbolic links are not followed. */
export function contentsOf({ data, projects }: Folders): SourceFile[] {
  const files = [
    ...filesIn(data, "", projects),
    ...filesIn(projects, `${PROJECTS}/`, data),
  ];
  const place = ({ name }: SourceFile) => name === APP_DATABASE ? 0 : 1;
  return files.toSorted((a, b) => place(a) - place(b) || (a.name < b.name ? -1 : 1));
}

/** @param except a folder that is not entered */
function* filesIn(folder: string, prefix: string, except: string): Generator<SourceFile> {
  for (const { name, isFile, isDirectory } of entriesOf(folder)) {
    const path = join(folder, name);
    if (path === except || EXCLUDED.some((pattern) => pattern.test(name))) continue;
    if (isDirectory) yield* filesIn(path, `${prefix}${name}/`, except);
    else if (isFile) yield { name: prefix + name, path, isDatabase: isDatabase(path) };
  }
}

function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
