import { Database } from "../content/mod.ts";
import type { Paging, Reader } from "../read/mod.ts";
import { matchExpression } from "./query.ts";
import { findMatches } from "./matches.ts";
import { INDEX_SCHEMA } from "./schema.ts";
import type { SearchKind, SearchResult } from "./shapes.ts";
import { Updater } from "./updater.ts";

/** Default size in bytes above which files are not indexed. */
const DEFAULT_MAX_FILE_BYTES = 1024 * 1024;

/** What is searched for. */
export interface SearchOptions extends Paging {
  /** Words that all must stand there; `"a phrase"`, `prefix*` and `-without` are understood. */
  readonly query: string;
  /** All kinds if absent. */
  readonly kinds?: readonly SearchKind[];
}

/** Options of `SearchIndex.open`. */
export interface SearchIndexOptions {
  /** Larger files are not indexed, in bytes; 1 MiB if absent. */
  readonly maxFileBytes?: number;
}

/**
 * Full text search over one repository, in a file of its own beside it. The file holds nothing that
 * the repository does not: it can be deleted at any time, and is made again.
 */
export class SearchIndex implements Disposable {
  readonly #path: string;
  readonly #reader: Reader;
  readonly #maxFileBytes: number;
  #db: Database;

  private constructor(path: string, reader: Reader, maxFileBytes: number) {
    this.#path = path;
    this.#reader = reader;
    this.#maxFileBytes = maxFileBytes;
    this.#db = openFile(path);
  }

  /** Where the index of a repository is kept: `x.fossil` has `x.index`. */
  static pathFor(repositoryPath: string): string {
    return `${repositoryPath.replace(/\.fossil$/, "")}.index`;
  }

  /**
   * Opens the index at `path`, or makes it; a file that is no index is replaced. Nothing is read
   * from the repository yet.
   */
  static open(path: string, reader: Reader, options: SearchIndexOptions = {}): SearchIndex {
    return new SearchIndex(path, reader, options.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES);
  }

  /** Like `open`, in memory: for a folder that cannot be written. */
  static inMemory(reader: Reader): SearchIndex {
    return new SearchIndex(":memory:", reader, DEFAULT_MAX_FILE_BYTES);
  }

  /**
   * Takes in what was written since; makes the index anew if it does not fit the repository or is
   * damaged.
   */
  update(): void {
    this.#repaired(() => new Updater(this.#db, this.#reader, this.#maxFileBytes).update());
  }

  /**
   * Finds matches, best first, the newest first among equals. Brings the index up to date before.
   * A query without a word to look for finds nothing.
   *
   * @throws {FossilError} `invalid` if the query or the page is malformed.
   */
  search(options: SearchOptions): SearchResult {
    const expression = matchExpression(options.query);
    if (expression === null) return { matches: [], total: 0 };
    this.update();
    return this.#repaired(() =>
      this.#reader.read(() => findMatches(this.#db, this.#reader, expression, options))
    );
  }

  close(): void {
    this.#db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Does some work; if the file turns out to be damaged, once more with a new one. */
  #repaired<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    this.#db.close();
    removeFile(this.#path);
    this.#db = openFile(this.#path);
    new Updater(this.#db, this.#reader, this.#maxFileBytes).update();
    return work();
  }
}

/** SQLite's own words for a file that is not what it should be. */
function isDamage(error: unknown): boolean {
  return error instanceof Error &&
    /malformed|not a database|no such table|no such column|vtable constructor/i.test(error.message);
}

function openFile(path: string): Database {
  try {
    return prepare(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    removeFile(path);
    return prepare(path);
  }
}

function prepare(path: string): Database {
  const db = new Database(path);
  try {
    db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
    if (!db.hasTable("meta")) db.exec(`BEGIN IMMEDIATE; ${INDEX_SCHEMA} COMMIT;`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function removeFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) {
    try {
      Deno.removeSync(path + suffix);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}
