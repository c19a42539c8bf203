import { type Database, isDamage, openDerived, removeDerived } from "../content/mod.ts";
import type { Reader } from "../read/mod.ts";
import { countMatches, findMatches } from "./matches.ts";
import { INDEX_SCHEMA, LongUpdate, Updater } from "./updater.ts";
import type { SearchKind, SearchOptions, SearchPage, SearchResult } from "./shapes.ts";
import { FossilError } from "../error.ts";

/** Default size in bytes above which files are not indexed. */
const DEFAULT_MAX_FILE_BYTES = 1024 * 1024;

/** How long to wait for another connection that updates the index, in milliseconds. */
const BUSY_TIMEOUT_MS = 200;

/** Options of `SearchIndex.open`. */
export interface SearchIndexOptions {
  /** Larger files are not indexed, in bytes; 1 MiB if absent. */
  readonly maxFileBytes?: number;
}

/**
 * Full text search over one repository, in a separate file beside it. The file holds only data from
 * the repository: it can be deleted at any time, and is then rebuilt.
 */
export class SearchIndex implements Disposable {
  readonly #path: string;
  readonly #reader: Reader;
  readonly #maxFileBytes: number;
  /** Under which the reader keeps that this index is current; a reader may have several. */
  readonly #currentKey = `search index ${crypto.randomUUID()}`;
  #db: Database;

  private constructor(path: string, reader: Reader, maxFileBytes: number) {
    this.#path = path;
    this.#reader = reader;
    this.#maxFileBytes = maxFileBytes;
    this.#db = openFile(path);
  }

  /**
   * Opens or creates the index at `path`; replaces a file that is not an index. Does not read the
   * repository yet.
   */
  static open(path: string, reader: Reader, options: SearchIndexOptions = {}): SearchIndex {
    return new SearchIndex(path, reader, options.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES);
  }

  /** Like `open`, in memory: for a folder that cannot be written. */
  static inMemory(reader: Reader): SearchIndex {
    return new SearchIndex(":memory:", reader, DEFAULT_MAX_FILE_BYTES);
  }

  /**
   * Indexes new artifacts; rebuilds the index if it does not match the repository or is damaged.
   */
  update(): void {
    this.#update((updater) => updater.update());
  }

  /**
   * Finds matches, best first, the newest first among equals. Updates the index before, unless that
   * takes long or another connection does it: then `is_complete` is false. A query without a search
   * word finds nothing.
   *
   * @throws {FossilError} `invalid` if the query or the page is malformed.
   */
  search(options: SearchOptions): SearchResult {
    const { pages: [page = NO_MATCHES], isComplete } = this.#search(options.query, [options]);
    return { ...page, is_complete: isComplete };
  }

  /** The same for each kind by itself, in the order of `kinds`. */
  searchEach(
    { kinds, ...options }: SearchOptions & { readonly kinds: readonly SearchKind[] },
  ): (SearchResult & { readonly kind: SearchKind })[] {
    const wanted = kinds.map((kind) => ({ ...options, kinds: [kind] }));
    const { pages, isComplete } = this.#search(options.query, wanted);
    return kinds.map((kind, place) => {
      return { kind, ...pages[place] ?? NO_MATCHES, is_complete: isComplete };
    });
  }

  /** Pages of the matches of one query; none if it has no search word. */
  #search(
    query: string,
    wanted: readonly SearchOptions[],
  ): { readonly pages: readonly SearchPage[]; readonly isComplete: boolean } {
    const expression = matchExpression(query);
    if (expression === null) return { pages: [], isComplete: true };
    const isComplete = this.#updateIfShort();
    const pages = this.#repaired(() =>
      this.#reader.read(() => {
        const found = { expression, counts: countMatches(this.#db, expression) };
        return wanted.map((page) => findMatches(this.#db, this.#reader, found, page));
      })
    );
    return { pages, isComplete };
  }

  /** Returns whether the index is current now. */
  #updateIfShort(): boolean {
    try {
      this.#update((updater) => updater.updateIfShort());
      return true;
    } catch (error) {
      if (error instanceof LongUpdate || isBusy(error)) return false;
      throw error;
    }
  }

  #update(work: (updater: Updater) => void): void {
    this.#repaired(() =>
      this.#reader.read(() =>
        // Once is enough until somebody writes to the repository.
        this.#reader.cached(this.#currentKey, () => {
          work(new Updater(this.#db, this.#reader, this.#maxFileBytes));
          return { value: true, bytes: 100 };
        })
      )
    );
  }

  close(): void {
    this.#db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Does some work; if the file is damaged, does it again with a new one. */
  #repaired<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    this.#db.close();
    removeDerived(this.#path);
    this.#db = openFile(this.#path);
    new Updater(this.#db, this.#reader, this.#maxFileBytes).update();
    return work();
  }
}

const NO_MATCHES: SearchPage = { matches: [], total: 0 };

/** Whether another connection is writing to the file. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked/i.test(error.message);
}

function openFile(path: string): Database {
  return openDerived(path, { schema: INDEX_SCHEMA, busyTimeoutMs: BUSY_TIMEOUT_MS });
}

/** Longest query, in UTF-16 units. */
const MAX_QUERY = 1000;
/** Most words and phrases of a query. */
const MAX_TERMS = 32;

/** A word or a phrase, with `-` before it to exclude it and `*` behind it for any ending. */
const TERM = /(-?)(?:"([^"]*)"?|([^\s"]+))(\*?)/gu;
const HAS_WORD = /[\p{L}\p{N}\p{Co}]/u;

/**
 * Turns user input into an expression of SQLite's FTS5. The expression is always well formed: every
 * term is quoted, so that no operator of FTS5 remains.
 *
 * @returns null if the input has no search word.
 * @throws {FossilError} `invalid` if the query is too long.
 */
function matchExpression(query: string): string | null {
  if (query.length > MAX_QUERY) {
    throw new FossilError("invalid", `A query has at most ${MAX_QUERY} characters`);
  }
  const [wanted, unwanted]: [string[], string[]] = [[], []];
  for (const [, minus, phrase, word = "", star] of query.matchAll(TERM)) {
    const hasStar = star === "*" || (phrase === undefined && word.endsWith("*"));
    const text = (phrase ?? word).replaceAll("\0", " ");
    if (!HAS_WORD.test(text)) continue;
    const quoted = `"${text.replaceAll('"', '""')}"${hasStar ? "*" : ""}`;
    (minus === "-" ? unwanted : wanted).push(quoted);
  }
  if (wanted.length + unwanted.length > MAX_TERMS) {
    throw new FossilError("invalid", `A query has at most ${MAX_TERMS} words`);
  }
  if (wanted.length === 0) return null;
  const all = wanted.join(" AND ");
  return unwanted.length === 0 ? all : `(${all}) NOT (${unwanted.join(" OR ")})`;
}
