import { type Compilable, Kysely } from "kysely";
import { DatabaseSync } from "node:sqlite";
import { Unavailable } from "../errors.ts";
import { configureConnection } from "./connection.ts";
import { readingDialect } from "./dialect.ts";
import type { JournalKey, NewEvent, Trim } from "./journal.ts";
import { migrate } from "./migrate.ts";
import type { OpenRequest, SqlValue, Statement, WriteRequest, WriteResponse } from "./protocol.ts";
import { type PartPort, type PartThread, SharedThread } from "../threads/mod.ts";
import type { Tables } from "./schema.ts";
import { writerPart } from "./writer.ts";

/** Most transactions that wait for the writer; one more is refused. */
const MAX_PENDING = 10_000;

/** Most transactions that the writer puts on disk in one step. */
const MAX_GROUP = 64;

/** A transaction was rolled back because a unique name, id or hash is taken. */
export class Duplicate extends Error {
  override readonly name = "Duplicate";
}

/** A transaction was rolled back because a statement that had to change a row changed none. */
export class Unchanged extends Error {
  override readonly name = "Unchanged";
  /** The statement's place in the transaction, from 0. */
  readonly statement: number;

  constructor(statement: number) {
    super(`Statement ${statement} changed no row`);
    this.statement = statement;
  }
}

/** What one transaction writes. */
export interface Change {
  readonly statements?: readonly Statement[];
  readonly events?: readonly NewEvent[];
}

/** What a committed transaction did. */
export interface Committed {
  /** The number of rows that each statement changed. */
  readonly changes: readonly number[];
  /** The sequence number of each event. */
  readonly sequence: readonly number[];
}

export interface DatabaseOptions {
  /** The key that seals the event log; without one its rows are chained and not sealed. */
  readonly journalKey?: JournalKey;
  /** The thread that writes; the calling one, if absent. */
  readonly thread?: PartThread<"database">;
}

/**
 * Rows held in memory, for code that cannot wait for a read. The statements that change these rows
 * keep them current: see {@linkcode Statement.committed}.
 */
export interface Directory {
  /** Reads all of its rows and replaces the earlier ones. */
  load(): Promise<void>;
}

/** What the writer takes; `null` closes it. */
type WriterMessage = OpenRequest | WriteRequest[] | null;

interface Pending {
  readonly statements: readonly Statement[];
  resolve(committed: Committed & { readonly trimmed: number }): void;
  reject(error: Error): void;
}

/**
 * Turns a query into a statement of a transaction.
 *
 * @param query an insert, update or delete, built with {@link Database.tables}
 * @param options `mustChange` rolls back the transaction if the statement changes no row;
 * `committed` is called once the transaction is on disk
 */
export function statement(
  query: Compilable,
  options: { mustChange?: boolean; committed?: (changes: number) => void } = {},
): Statement {
  const { sql, parameters } = query.compile();
  return {
    sql,
    parameters: parameters as readonly SqlValue[],
    mustChange: options.mustChange ?? false,
    ...(options.committed === undefined ? {} : { committed: options.committed }),
  };
}

/**
 * The app database: a SQLite file that the main thread reads and one worker writes. Only the caller
 * of a write waits for the disk. An acknowledged write is on disk.
 */
export class Database {
  /** Builds queries of every kind and executes those that read. */
  readonly tables: Kysely<Tables>;

  readonly #path: string;
  readonly #journalKey: JournalKey | null;
  readonly #reading: DatabaseSync;
  readonly #appendListeners = new Set<(newest: number) => void>();
  readonly #directories = new Set<Directory>();
  readonly #pending = new Map<number, Pending>();
  /** Transactions that the writer does not have yet. */
  #queue: WriteRequest[] = [];
  /** How many transactions the writer has not answered yet. */
  #running = 0;
  #writer: PartPort<WriterMessage> | null = null;
  readonly #thread: PartThread<"database">;
  #nextId = 1;
  #trouble: string | null = null;
  /**
   * Whether a writer has failed since the directories were loaded: it may have committed without
   * reporting it.
   */
  #directoriesStale = false;
  #closed = false;
  #onWriterClosed: (() => void) | null = null;

  /**
   * Opens the database and migrates it to the current schema.
   *
   * @throws DatabaseError if the file is not a database or belongs to a newer version
   */
  constructor(path: string, options: DatabaseOptions = {}) {
    migrate(path);
    this.#path = path;
    this.#journalKey = options.journalKey ?? null;
    this.#thread = options.thread ?? new SharedThread({ database: writerPart });
    this.#reading = new DatabaseSync(path);
    configureConnection(this.#reading);
    this.#reading.exec("PRAGMA query_only = ON");
    this.tables = new Kysely<Tables>({ dialect: readingDialect(this.#reading) });
  }

  /** Why the last write failed because storage ran out, or null while all is well. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /**
   * Writes a transaction: all of its statements and events, or nothing.
   *
   * @throws Duplicate, Unchanged as a statement's outcome
   * @throws Unavailable if the disk refuses or too many transactions wait
   */
  async commit({ statements = [], events = [] }: Change): Promise<Committed> {
    const { changes, sequence } = await this.#write({ statements, events, trim: null });
    return { changes, sequence };
  }

  /**
   * Removes what retention does not keep from the beginning of the event log.
   *
   * @returns the number of removed rows
   * @throws Unavailable like {@link commit}
   */
  async trimEvents(trim: Trim): Promise<number> {
    return (await this.#write({ statements: [], events: [], trim })).trimmed;
  }

  /**
   * Loads a directory, now and whenever it may have missed a change. Load a directory after those
   * that it depends on.
   *
   * @throws what its `load` throws
   */
  async keepCurrent(directory: Directory): Promise<void> {
    await directory.load();
    this.#directories.add(directory);
  }

  /**
   * Calls a listener when appended events can be read.
   *
   * @param listener receives the number of the newest event of the transaction; must not throw
   * @returns a function that ends the subscription
   */
  onAppended(listener: (newest: number) => void): () => void {
    this.#appendListeners.add(listener);
    return () => this.#appendListeners.delete(listener);
  }

  /** Checks whether the disk accepts writes again after it refused one. */
  async probe(): Promise<void> {
    if (this.#trouble === null) return;
    await this.#reloadDirectories();
    await this.commit({
      statements: [{
        sql: `INSERT INTO settings (key, value) VALUES ('storage_probe', ?)
              ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        parameters: [String(this.#nextId)],
        mustChange: true,
      }],
    }).catch(() => {});
  }

  /** Finishes the pending writes and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const writer = this.#writer;
    if (writer !== null) {
      await new Promise<void>((resolve) => {
        this.#onWriterClosed = resolve;
        if (this.#queue.length > 0) writer.post(this.#queue);
        this.#queue = [];
        writer.post(null);
      });
      writer.end();
    }
    this.#reading.close();
  }

  #write(
    request: Omit<WriteRequest, "id" | "statements"> & Required<Pick<Change, "statements">>,
  ): Promise<Committed & { readonly trimmed: number }> {
    if (this.#closed || this.#pending.size >= MAX_PENDING) {
      return Promise.reject(new Unavailable("The database takes no writes at the moment"));
    }
    const id = this.#nextId++;
    const { statements, events, trim } = request;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { statements, resolve, reject });
      const wired = statements.map(({ sql, parameters, mustChange }) => (
        { sql, parameters, mustChange }
      ));
      this.#queue.push({ id, statements: wired, events, trim });
      this.#advance();
    });
  }

  /**
   * Gives the writer what waits, once it has answered what it had: transactions that come in while
   * it waits for the disk share the next wait.
   */
  #advance(): void {
    if (this.#running > 0 || this.#queue.length === 0) return;
    const group = this.#queue.splice(0, MAX_GROUP);
    this.#running = group.length;
    this.#openWriter().post(group);
  }

  #openWriter(): PartPort<WriterMessage> {
    if (this.#writer !== null) return this.#writer;
    const writer = this.#thread.open<WriterMessage, WriteResponse | null>("database", {
      onMessage: (response) => {
        if (response === null) return this.#onWriterClosed?.();
        this.#running--;
        this.#advance();
        this.#settle(response);
      },
      onError: (reason) => this.#fail(reason),
    });
    writer.post({ path: this.#path, key: this.#journalKey });
    this.#writer = writer;
    return writer;
  }

  #settle(response: WriteResponse): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (response.kind === "failed" && response.storage) this.#trouble = response.message;
    else if (response.kind === "committed") this.#trouble = null;
    if (pending === undefined) return;
    switch (response.kind) {
      case "committed": {
        const { changes, sequence, trimmed } = response;
        for (const [index, { committed }] of pending.statements.entries()) {
          committed?.(changes[index] ?? 0);
        }
        pending.resolve({ changes, sequence, trimmed });
        const newest = sequence.at(-1);
        if (newest === undefined) return;
        for (const listener of this.#appendListeners) listener(newest);
        return;
      }
      case "unchanged":
        return pending.reject(new Unchanged(response.statement));
      case "duplicate":
        return pending.reject(new Duplicate(response.message));
      case "failed":
        return pending.reject(
          response.storage
            ? new Unavailable("The database cannot be written at the moment")
            : new Error(`Cannot write to the database: ${response.message}`),
        );
    }
  }

  /** Handles a failed writer: rejects pending writes. The next write starts a new one. */
  #fail(message: string): void {
    this.#trouble = message;
    this.#writer = null;
    this.#onWriterClosed?.();
    for (const { reject } of this.#pending.values()) {
      reject(new Unavailable("The database cannot be written at the moment"));
    }
    this.#pending.clear();
    this.#queue = [];
    this.#running = 0;
    this.#directoriesStale = true;
    void this.#reloadDirectories();
  }

  /** If this fails, the next {@link probe} tries again. */
  async #reloadDirectories(): Promise<void> {
    if (!this.#directoriesStale) return;
    try {
      for (const directory of this.#directories) await directory.load();
      this.#directoriesStale = false;
    } catch (error) {
      this.#trouble = error instanceof Error ? error.message : String(error);
    }
  }
}
