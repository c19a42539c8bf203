import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { refusalOf } from "../../engines/database/mod.ts";
import { isDatabase } from "../../engines/database/sqlite/mod.ts";
import { APP_DATABASE, type Folders } from "./contents.ts";
import type { Manifest, StoredFile } from "./manifest.ts";
import { BackupError, requireSafeName } from "./names.ts";
import { placeFolders } from "./placing.ts";
import { readArchive, readFolder } from "./sources.ts";
import { explainDisk, writeAll } from "./target.ts";

export interface RestoreOptions {
  /** An archive, or a folder of backups. */
  readonly source: string;
  /** Which backup of a folder; null for the newest. */
  readonly name: string | null;
  readonly folders: Folders;
  /** Whether a folder with data may be moved aside. */
  readonly replace: boolean;
  /** Throws if a program uses the data folder. */
  readonly requireFree: () => void;
  /** Where the configuration has the app database. */
  readonly database: Manifest["database"];
  /** Called with the number of files done. */
  readonly onProgress?: (files: number) => void;
}

/** What a restore did. */
export interface RestoreReport {
  readonly created_at: string;
  readonly files: number;
  readonly bytes: number;
  /** Where the data that was there before is now; null if there was none. */
  readonly previous: string | null;
}

/**
 * Restores a backup into a data folder. Everything is written into a new folder and checked there:
 * checksums, databases, versions. Only then does it get its name.
 *
 * @throws BackupError; then nothing has changed
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { source, name, folders } = options;
  requireRoom(options);
  await using placing = await placeFolders(folders);
  const files = new RestoredFiles(placing.draft, options.onProgress);
  const take = (file: string, pieces: AsyncIterable<Uint8Array<ArrayBuffer>>) =>
    files.write(file, pieces);
  const isFolder = (await statOf(source)).isDirectory;
  const manifest = isFolder
    ? await readFolder(source, name, take)
    : await readArchive(source, take);
  files.compare(manifest);
  requireSameStore(manifest, options.database);
  requireKnownSchema(manifest);
  settleDatabases(placing.draft, manifest);
  requireRoom(options);
  const previous = await placing.finish();
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  return { created_at: manifest.created_at, files: manifest.files.length, bytes, previous };
}

async function statOf(source: string): Promise<Deno.FileInfo> {
  try {
    return await Deno.stat(source);
  } catch {
    throw new BackupError(`There is no backup at "${source}"`);
  }
}

function requireRoom({ folders, replace, requireFree }: RestoreOptions): void {
  requireFree();
  for (const folder of [folders.data, folders.projects]) {
    if (replace || isEmpty(folder)) continue;
    throw new BackupError(
      `The folder "${folder}" is not empty; --replace moves it aside and restores in its place`,
    );
  }
}

function isEmpty(folder: string): boolean {
  try {
    // A check of the folder's lock leaves its file.
    return [...Deno.readDirSync(folder)].every(({ name }) =>
      name === "lock" || name === "lost+found" || name.startsWith(".restore-")
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

/** The files that are restored, into a folder of their own. */
class RestoredFiles {
  readonly #folder: string;
  readonly #onProgress: (files: number) => void;
  readonly #written = new Map<string, Pick<StoredFile, "bytes" | "sha256">>();

  constructor(folder: string, onProgress: (files: number) => void = () => {}) {
    this.#folder = folder;
    this.#onProgress = onProgress;
  }

  /** @throws BackupError if the name leads elsewhere, or the disk refuses */
  async write(name: string, pieces: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<void> {
    requireSafeName(name);
    if (this.#written.has(name)) throw new BackupError(`The backup holds "${name}" twice`);
    const path = join(this.#folder, name);
    try {
      await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
      using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const piece of pieces) {
        hash.update(piece);
        bytes += piece.length;
        await writeAll(file, piece);
      }
      await file.sync();
      this.#written.set(name, { bytes, sha256: hash.digest("hex") });
    } catch (error) {
      throw explainDisk(error, path);
    }
    this.#onProgress(this.#written.size);
  }

  /**
   * Checks that the files are those of the backup.
   *
   * @throws BackupError
   */
  compare({ files }: Manifest): void {
    for (const { name, bytes, sha256 } of files) {
      const written = this.#written.get(name);
      if (written === undefined) throw new BackupError(`The backup lacks its file "${name}"`);
      if (written.bytes === bytes && written.sha256 === sha256) continue;
      throw new BackupError(`The backup is damaged: "${name}" does not have its checksum`);
    }
    const named = new Set(files.map(({ name }) => name));
    for (const name of this.#written.keys()) {
      if (!named.has(name)) throw new BackupError(`The backup does not list its file "${name}"`);
    }
  }
}

function requireSameStore({ database }: Manifest, wanted: Manifest["database"]): void {
  if (database === wanted) return;
  throw new BackupError(
    database === "sqlite"
      ? `The backup holds its app database, "${APP_DATABASE}", and database.url names one in ` +
        'PostgreSQL: remove database.url, and use "muster migrate" afterwards'
      : "The app database of the backup was in PostgreSQL, and is not in it: set database.url, and " +
        "fill that database with pg_restore",
  );
}

function requireKnownSchema({ database, schema, muster, files }: Manifest): void {
  if (database !== "sqlite") return;
  if (!files.some(({ name }) => name === APP_DATABASE)) {
    throw new BackupError(`The backup has no database "${APP_DATABASE}"`);
  }
  const refusal = refusalOf(schema);
  if (refusal === null) return;
  const subject = `The database of the backup, which muster ${muster} made,`;
  throw new BackupError(`${subject} ${refusal.reason}: ${refusal.fix}`);
}

/**
 * Moves the write-ahead logs into their databases, and checks these.
 *
 * @throws BackupError if one is damaged
 */
function settleDatabases(draft: string, { files }: Manifest): void {
  for (const { name } of files) {
    const path = join(draft, name);
    if (name.endsWith("-wal")) continue;
    const isUsable = isDatabase(path);
    if (!isUsable && name !== APP_DATABASE) continue;
    const problem = isUsable ? settle(path) : "it is no database";
    if (problem === null) continue;
    throw new BackupError(`The database "${name}" in the backup is damaged: ${problem}`);
  }
}

function settle(path: string): string | null {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA trusted_schema = OFF; PRAGMA wal_checkpoint(TRUNCATE)");
    const found = String(database.prepare("PRAGMA quick_check").get()?.["quick_check"]);
    return found === "ok" ? null : found;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    database.close();
  }
}
