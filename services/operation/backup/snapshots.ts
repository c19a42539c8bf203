import {
  APP_DATABASE,
  contentsOf,
  type Folders,
  HISTORY_JOURNAL,
  type SourceFile,
} from "./contents.ts";
import { BackupError } from "./names.ts";
import { readParts, SqliteSnapshot } from "./sqlite_snapshot.ts";
import type { Manifest, StoredFile } from "./manifest.ts";
import type { BackupTarget, NewFile } from "./target.ts";

/** A file of a backup before it is written: unchanged since the last one, or to be read. */
export interface Taken {
  readonly source: SourceFile;
  readonly state: string | null;
  /** What the target holds already. */
  readonly known: readonly StoredFile[];
  readonly snapshot: SqliteSnapshot | null;
}

/**
 * The state of all files of a data folder at one moment. What takes time, opening the databases, is
 * done before that moment; what is long, reading them, after it.
 */
export class Snapshots implements Disposable {
  readonly #folders: Folders;
  readonly #target: BackupTarget;
  readonly #database: Manifest["database"];
  readonly #opened = new Map<string, SqliteSnapshot>();
  readonly #taken: Taken[] = [];

  /** @param database where the app database is */
  constructor(folders: Folders, target: BackupTarget, database: Manifest["database"]) {
    this.#folders = folders;
    this.#target = target;
    this.#database = database;
  }

  /** Opens what has changed since the last backup. */
  prepare(): void {
    for (const source of contentsOf(this.#folders)) {
      if (!source.isDatabase) continue;
      if (this.#target.known(source.name, stateOf(source.path)).length > 0) continue;
      this.#open(source.path);
    }
  }

  /**
   * Takes the state of this moment, while nobody writes to a repository.
   *
   * @param areSettled whether journals hold nothing from before this moment; they are left out then
   * @throws BackupError if a file cannot be read, or there is no data
   */
  take(areSettled: boolean): void {
    const sources = contentsOf(this.#folders)
      .filter(({ name }) => !areSettled || !HISTORY_JOURNAL.test(name));
    const [first] = sources;
    if (this.#database === "sqlite" ? first?.name !== APP_DATABASE : first === undefined) {
      throw new BackupError(`There is no data of a muster in "${this.#folders.data}"`);
    }
    for (const source of sources) {
      const state = source.isDatabase ? stateOf(source.path) : null;
      const known = this.#target.known(source.name, state);
      const snapshot = source.isDatabase && known.length === 0 ? this.#open(source.path) : null;
      snapshot?.take();
      this.#taken.push({ source, state, known, snapshot });
    }
  }

  /** What was taken, the app database first if it is a file. */
  get taken(): readonly Taken[] {
    return this.#taken;
  }

  /** The version of the app database's schema; 0 if it is not a file. */
  get schema(): number {
    if (this.#database !== "sqlite") return 0;
    const database = this.#taken[0]?.snapshot ?? null;
    if (database !== null) return Number(database.row("PRAGMA user_version")?.["user_version"]);
    using opened = SqliteSnapshot.open(this.#taken[0]?.source.path ?? "");
    return Number(opened.row("PRAGMA user_version")?.["user_version"]);
  }

  /** The files to write for what was taken, and closes each after it was read. */
  *filesOf({ source, state, snapshot }: Taken): Generator<NewFile> {
    if (snapshot === null) return yield* plainFile(source);
    for (const part of snapshot.parts) {
      const { suffix, bytes } = part;
      yield { name: source.name + suffix, bytes, state, pieces: readParts(part) };
    }
    snapshot[Symbol.dispose]();
    this.#opened.delete(source.path);
  }

  [Symbol.dispose](): void {
    for (const snapshot of this.#opened.values()) snapshot[Symbol.dispose]();
    this.#opened.clear();
    this.#taken.length = 0;
  }

  #open(path: string): SqliteSnapshot {
    const known = this.#opened.get(path);
    if (known !== undefined) return known;
    const opened = SqliteSnapshot.open(path);
    this.#opened.set(path, opened);
    return opened;
  }
}

/** A file that is no database. It may have gone meanwhile, such as a finished upload. */
function* plainFile({ name, path }: SourceFile): Generator<NewFile> {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw new BackupError(`"${path}" cannot be read: ${String(error)}`);
  }
  using opened = file;
  const bytes = opened.statSync().size;
  yield { name, bytes, state: null, pieces: readParts({ suffix: "", file: opened, bytes }) };
}

/**
 * After a change this recent, the next one may leave the same modification time: file systems have
 * coarse clocks. In milliseconds.
 */
const SETTLED_MS = 50;

/**
 * What tells the content of a file from what it had earlier, without reading it: times, sizes and
 * inodes of the file and of its write-ahead log.
 *
 * @returns null if that is not certain, because the file has just changed
 */
function stateOf(path: string): string | null {
  const parts = [path, `${path}-wal`].map(partOf);
  const newest = Math.max(...parts.map(({ modified }) => modified));
  if (newest > Date.now() - SETTLED_MS) return null;
  return parts.map(({ modified, size, inode }) => `${modified} ${size} ${inode}`).join(" ");
}

/** An empty log says as much as none. */
function partOf(path: string): { modified: number; size: number; inode: number } {
  try {
    const { mtime, size, ino } = Deno.statSync(path);
    if (size > 0) return { modified: mtime?.getTime() ?? Infinity, size, inode: ino ?? 0 };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return { modified: 0, size: 0, inode: 0 };
}
