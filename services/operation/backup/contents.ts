import { join } from "node:path";
import { isDatabase } from "../../engines/database/sqlite/mod.ts";
import { BackupError, isExcluded, isStorable } from "./names.ts";

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
  /** Its path, without a symbolic link at its end. */
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
 * Finds the files of a backup, the app database first. The file that a symbolic link leads to is
 * part of the data, because muster reads it there.
 *
 * @throws BackupError if a backup cannot hold a file
 */
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
  for (const { name, isFile, isDirectory, isSymlink } of entriesOf(folder)) {
    const path = join(folder, name);
    if (path === except || isExcluded(name)) continue;
    if (isDirectory) yield* filesIn(path, `${prefix}${name}/`, except);
    else if (isFile) yield sourceFile(path, prefix + name);
    else if (isSymlink) yield* linkedFile(path, prefix + name, except);
  }
}

function sourceFile(path: string, name: string): SourceFile {
  if (isStorable(name)) return { name, path, isDatabase: isDatabase(path) };
  throw new BackupError(
    `A backup cannot hold a file named ${JSON.stringify(name)}: rename "${path}", or move it away`,
  );
}

function* linkedFile(link: string, name: string, except: string): Generator<SourceFile> {
  const path = realPath(link);
  if (path === null) {
    throw new BackupError(
      `"${link}" is a symbolic link to nothing: restore its file, or remove it`,
    );
  }
  if (path === realPath(except)) return;
  const { isFile, isDirectory } = Deno.statSync(path);
  if (isFile) yield sourceFile(path, name);
  if (!isDirectory) return;
  throw new BackupError(
    `"${link}" is a symbolic link to a folder, which a backup does not follow: put the folder there`,
  );
}

/** The path without symbolic links; null if there is nothing. */
function realPath(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
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
