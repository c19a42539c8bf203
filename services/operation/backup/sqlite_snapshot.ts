import { DatabaseSync } from "node:sqlite";
import { reasonOfSqlite } from "../../engines/database/sqlite/mod.ts";
import { BackupError } from "./errors.ts";
import { type FilePart, readParts } from "./file_parts.ts";
import { readWalIndex } from "./wal_index.ts";

/** How long a snapshot waits for another program's lock, in milliseconds. */
const BUSY_TIMEOUT = 5000;

/**
 * One state of a SQLite file that other programs use, read without holding them up.
 *
 * An open read transaction keeps every page of its state: a checkpoint copies no newer page into the
 * file, and no writer begins the write-ahead log anew. So the file, followed by the frames that the
 * log has now, is this state, however long the copy takes. A program with a rollback journal in
 * place of the log waits until the snapshot is closed.
 *
 * This process must have no other connection to the file: when it closes a file that it read, POSIX
 * drops every lock that it holds on that file, including SQLite's.
 *
 * @see {@link https://www.sqlite.org/walformat.html}
 */
export class SqliteSnapshot implements Disposable {
  readonly path: string;
  readonly #connection: DatabaseSync;
  /** Closed after the connection, which has locks on them. */
  readonly #files: Deno.FsFile[] = [];
  #parts: readonly FilePart[] = [];

  private constructor(path: string, connection: DatabaseSync) {
    this.path = path;
    this.#connection = connection;
  }

  /**
   * Opens a file. It holds nothing up until {@linkcode take}.
   *
   * @throws BackupError if it is no database
   */
  static open(path: string): SqliteSnapshot {
    let connection: DatabaseSync | undefined;
    try {
      // SQLite has its other files beside the file itself, not beside a symbolic link to it.
      const real = Deno.realPathSync(path);
      connection = new DatabaseSync(real);
      connection.exec(`
        PRAGMA busy_timeout = ${BUSY_TIMEOUT};
        PRAGMA trusted_schema = OFF;
        PRAGMA query_only = ON;
      `);
      connection.prepare("SELECT count(*) FROM sqlite_schema").get();
      return new SqliteSnapshot(real, connection);
    } catch (error) {
      connection?.close();
      throw unreadable(path, error);
    }
  }

  /**
   * Takes the state of this moment.
   *
   * @throws BackupError if the file cannot be read
   */
  take(): void {
    try {
      this.#connection.exec("BEGIN");
      this.#connection.prepare("SELECT count(*) FROM sqlite_schema").get();
      this.#parts = this.#measure();
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  /** The files that make up the state, each with the bytes that belong to it. */
  get parts(): readonly FilePart[] {
    return this.#parts;
  }

  /**
   * Writes the state to a new database file, with a write-ahead log beside it if it has one. Only
   * the owner can read them.
   */
  copyTo(target: string): void {
    for (const part of this.#parts) {
      const path = target + part.suffix;
      using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
      for (const piece of readParts(part)) {
        for (let written = 0; written < piece.length;) {
          written += file.writeSync(piece.subarray(written));
        }
      }
    }
  }

  /** Reads one row of the state. */
  row(sql: string): Record<string, unknown> | undefined {
    return this.#connection.prepare(sql).get();
  }

  [Symbol.dispose](): void {
    this.#connection.close();
    for (const file of this.#files) file.close();
  }

  /** The length of the file is read last: until then, a checkpoint may make it longer. */
  #measure(): FilePart[] {
    const file = this.#own(Deno.openSync(this.path));
    const { journal_mode: mode } = this.row("PRAGMA journal_mode") ?? {};
    const logBytes = mode === "wal" ? this.#logBytes() : 0;
    const whole = { suffix: "", file, bytes: file.statSync().size };
    if (logBytes === 0) return [whole];
    const log = this.#own(Deno.openSync(`${this.path}-wal`));
    return [whole, { suffix: "-wal", file: log, bytes: logBytes }];
  }

  #logBytes(): number {
    const bytes = readWalIndex(this.#own(Deno.openSync(`${this.path}-shm`)));
    if (bytes === null) throw new Error("its write-ahead log has an unknown form");
    return bytes;
  }

  #own(file: Deno.FsFile): Deno.FsFile {
    this.#files.push(file);
    return file;
  }
}

function unreadable(path: string, error: unknown): BackupError {
  return new BackupError(`The database "${path}" cannot be read: ${reasonOfSqlite(error, path)}`);
}
