import { DatabaseSync } from "node:sqlite";
import { reasonOfSqlite } from "../../engines/database/sqlite/mod.ts";
import { BackupError } from "./names.ts";

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

/**
 * The head of a write-ahead log's index, the file `-shm`.
 *
 * @see {@link https://www.sqlite.org/walformat.html#the_wal_index_file_format}
 */

/** The header stands there twice, so that a reader notices a change under way. */
const HEADER_BYTES = 48;

/** Places in the header, in bytes. */
const VERSION = 0;
const PAGE_SIZE = 14;
const FRAMES = 16;

/** The number of frames that are in the database file already, after both headers. */
const BACKFILLED = 96;

const KNOWN_VERSION = 3_007_000;

/** Bytes of the log's header, and of a frame's. */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** How often a change may be under way. */
const ATTEMPTS = 1000;

/**
 * Finds how much of a write-ahead log belongs to the database.
 *
 * @param file the index; the caller closes it after its own connection to the database
 * @returns bytes of the log up to its last transaction; 0 if the file of the database has them all;
 * null if the index has an unknown form
 */
function readWalIndex(file: Deno.FsFile): number | null {
  const bytes = new Uint8Array(BACKFILLED + 4);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    file.seekSync(0, Deno.SeekMode.Start);
    if (file.readSync(bytes) !== bytes.length) return null;
    const [first, second] = [bytes.subarray(0, HEADER_BYTES), bytes.subarray(HEADER_BYTES)];
    if (first.every((byte, place) => byte === second[place])) return lengthOf(bytes);
  }
  return null;
}

/** The numbers are in the order of the machine. All machines that run Deno are little-endian. */
function lengthOf(bytes: Uint8Array<ArrayBuffer>): number | null {
  const view = new DataView(bytes.buffer);
  if (view.getUint32(VERSION, true) !== KNOWN_VERSION) return null;
  const frames = view.getUint32(FRAMES, true);
  if (frames === view.getUint32(BACKFILLED, true)) return 0;
  const size = view.getUint16(PAGE_SIZE, true);
  const pageBytes = size === 1 ? 65_536 : size;
  return LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
}

/** Bytes that are read at once. */
const STEP = 1024 * 1024;

/** The first bytes of a file that belong to a copy of it. */
export interface FilePart {
  /** What follows the name of the copied file, such as `-wal`. */
  readonly suffix: string;
  readonly file: Deno.FsFile;
  readonly bytes: number;
}

/**
 * Reads the bytes of a part, a piece at a time. A piece is valid until the next one is read. Bytes
 * that the file has lost meanwhile are zeros, so that the length stays as announced.
 */
export function* readParts({ file, bytes }: FilePart): IterableIterator<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(Math.min(STEP, Math.max(bytes, 1)));
  file.seekSync(0, Deno.SeekMode.Start);
  for (let left = bytes; left > 0;) {
    const room = buffer.subarray(0, Math.min(left, buffer.length));
    const read = file.readSync(room) ?? 0;
    if (read === 0) room.fill(0);
    const piece = read === 0 ? room : room.subarray(0, read);
    left -= piece.length;
    yield piece;
  }
}
