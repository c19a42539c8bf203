import { DatabaseSync, type StatementSync } from "node:sqlite";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Part } from "../../kernel/threads/mod.ts";
import { isLocked, isTrouble, rollBack } from "./sqlite/mod.ts";
import {
  type OpenRequest,
  Undone,
  type WireStatement,
  type WriteRequest,
  type WriteResponse,
} from "./protocol.ts";
import { SqliteJournal } from "./sqlite_journal.ts";

/** SQLite's extended codes for a broken UNIQUE or PRIMARY KEY constraint. */
const DUPLICATE_CODES: readonly unknown[] = [2067, 1555];

/** Most prepared statements kept. */
const CACHED_STATEMENTS = 200;

/** Executes transactions in turn on the only connection that writes. */
class Writer {
  readonly #database: DatabaseSync;
  readonly #journal: SqliteJournal;
  readonly #statements = new BoundedMap<string, StatementSync>(CACHED_STATEMENTS);

  constructor(request: OpenRequest) {
    this.#database = new DatabaseSync(request.path);
    configureConnection(this.#database);
    this.#journal = new SqliteJournal(this.#database, request.key);
  }

  /** Executes transactions in turn, with one wait for the disk. Each does everything or nothing. */
  execute(requests: readonly WriteRequest[]): WriteResponse[] {
    if (requests.length > 1) {
      try {
        return this.#transaction(() => requests.map((request) => this.#inGroup(request)));
      } catch (error) {
        // Each would wait for the lock.
        if (isLocked(error)) return requests.map((request) => refusal(request, error));
        // One of them fails on its own, or all together do not fit on the disk.
      }
    }
    return requests.map((request) => this.#alone(request));
  }

  #alone(request: WriteRequest): WriteResponse {
    try {
      return this.#transaction(() => this.#perform(request));
    } catch (error) {
      return refusal(request, error);
    }
  }

  /** @throws what is wrong with more than the rows that it meets; then the group is undone */
  #inGroup(request: WriteRequest): WriteResponse {
    this.#database.exec("SAVEPOINT request");
    const response = this.#performOrUndo(request);
    this.#database.exec("RELEASE request");
    return response;
  }

  #performOrUndo(request: WriteRequest): WriteResponse {
    try {
      return this.#perform(request);
    } catch (error) {
      const response = refusal(request, error);
      if (response.kind === "failed") throw error;
      this.#database.exec("ROLLBACK TO request");
      return response;
    }
  }

  #perform({ id, statements, events, trim }: WriteRequest): WriteResponse {
    const changes: number[] = [];
    for (const [index, statement] of statements.entries()) {
      const changed = this.#run(statement);
      if (changed === 0 && statement.mustChange) throw new Undone(index);
      changes.push(changed);
    }
    const sequence = this.#journal.append(events);
    const trimmed = trim === null ? 0 : this.#journal.trim(trim);
    return { id, kind: "committed", changes, sequence, trimmed };
  }

  #transaction<T>(work: () => T): T {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      rollBack(this.#database);
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #run({ sql, parameters }: WireStatement): number {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return Number(statement.run(...parameters).changes);
  }
}

/** Why nothing of a transaction was written. */
function refusal({ id }: WriteRequest, error: unknown): WriteResponse {
  if (error instanceof Undone) return { id, kind: "unchanged", statement: error.statement };
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  if (DUPLICATE_CODES.includes(code)) return { id, kind: "duplicate", message };
  return { id, kind: "failed", message, storage: isTrouble(error) };
}

/**
 * The only connection that writes. The first message names the file, and each later one has
 * transactions.
 */
export const writerPart: Part = (answer) => {
  let writer: Writer | null = null;
  return (message) => {
    const request = message as OpenRequest | WriteRequest[] | null;
    if (request === null) {
      writer?.close();
      writer = null;
      answer(null);
    } else if ("path" in request) {
      writer = new Writer(request);
    } else {
      // One answer each: a caller continues before the next one's change shows in memory.
      for (const response of writer?.execute(request) ?? []) answer(response);
    }
  };
};

/** How long a connection waits for another one's lock, in milliseconds. */
const BUSY_TIMEOUT = 5000;

/**
 * Configures a connection to the app database: an acknowledged commit is on disk, readers and the
 * writer do not block each other, and references are checked.
 */
export function configureConnection(database: DatabaseSync): void {
  database.exec(`
    PRAGMA busy_timeout = ${BUSY_TIMEOUT};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA trusted_schema = OFF;
  `);
}
