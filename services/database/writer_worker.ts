/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { rollBack } from "./sqlite/mod.ts";
import { configureConnection } from "./connection.ts";
import { Journal } from "./journal.ts";
import type { OpenRequest, WireStatement, WriteRequest, WriteResponse } from "./protocol.ts";

/** SQLite's extended codes for a broken UNIQUE or PRIMARY KEY constraint. */
const DUPLICATE_CODES: readonly unknown[] = [2067, 1555];

/** SQLite's primary codes for disk errors: READONLY, IOERR, FULL, CANTOPEN. */
const STORAGE_CODES: readonly number[] = [8, 10, 13, 14];

/** Most prepared statements kept. */
const CACHED_STATEMENTS = 200;

/** Executes transactions in turn on the only connection that writes. */
class Writer {
  readonly #database: DatabaseSync;
  readonly #journal: Journal;
  readonly #statements = new Map<string, StatementSync>();

  constructor(request: OpenRequest) {
    this.#database = new DatabaseSync(request.path);
    configureConnection(this.#database);
    this.#journal = new Journal(this.#database, request.key);
  }

  execute({ id, statements, events, trim }: WriteRequest): WriteResponse {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      const changes: number[] = [];
      for (const [index, statement] of statements.entries()) {
        const changed = this.#run(statement);
        if (changed === 0 && statement.mustChange) {
          rollBack(this.#database);
          return { id, kind: "unchanged", statement: index };
        }
        changes.push(changed);
      }
      const sequence = this.#journal.append(events);
      const trimmed = trim === null ? 0 : this.#journal.trim(trim);
      this.#database.exec("COMMIT");
      return { id, kind: "committed", changes, sequence, trimmed };
    } catch (error) {
      rollBack(this.#database);
      return { id, ...failure(error) };
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #run({ sql, parameters }: WireStatement): number {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      if (this.#statements.size >= CACHED_STATEMENTS) this.#statements.clear();
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return Number(statement.run(...parameters).changes);
  }
}

function failure(error: unknown): { kind: "duplicate"; message: string } | {
  kind: "failed";
  message: string;
  storage: boolean;
} {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  if (DUPLICATE_CODES.includes(code)) return { kind: "duplicate", message };
  const primary = typeof code === "number" ? code & 0xff : -1;
  const storage = STORAGE_CODES.includes(primary) || /disk|readonly database/i.test(message);
  return { kind: "failed", message, storage };
}

/** The first message names the file; each later one is a transaction, or `null` to close. */
function serve(): void {
  let writer: Writer | null = null;
  self.onmessage = ({ data }: MessageEvent<OpenRequest | WriteRequest | null>) => {
    if (data !== null && "path" in data) {
      writer = new Writer(data);
    } else if (data !== null) {
      if (writer !== null) self.postMessage(writer.execute(data));
    } else {
      writer?.close();
      self.postMessage(null);
      self.close();
    }
  };
}

serve();
