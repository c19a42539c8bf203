import { Kysely } from "kysely";
import type { DatabaseSync } from "node:sqlite";
import { type PartThread, SharedThread } from "../../kernel/threads/mod.ts";
import { readingDialect } from "./dialect.ts";
import type { JournalKey } from "./journal.ts";
import { openMigrated } from "./migrate.ts";
import type { OpenRequest, WriteRequest, WriteResponse } from "./protocol.ts";
import type { Tables } from "./schema.ts";
import type { Store, StoreWriter, WriterListener } from "./store.ts";
import { writerPart } from "./writer.ts";

export interface SqliteOptions {
  /** The key that seals the event log; without one its rows are chained and not sealed. */
  readonly journalKey?: JournalKey;
  /** The thread that writes; the calling one, if absent. */
  readonly thread?: PartThread<"database">;
}

/** What the writer takes; `null` closes it. */
type WriterMessage = OpenRequest | readonly WriteRequest[] | null;

/** A SQLite file that the main thread reads and one worker writes. */
export class SqliteStore implements Store {
  readonly title = "The database";
  readonly tables: Kysely<Tables>;
  /** A lock on the data folder keeps others away. */
  readonly peers = null;
  readonly #path: string;
  readonly #journalKey: JournalKey | null;
  readonly #thread: PartThread<"database">;
  readonly #reading: DatabaseSync;

  /**
   * Opens the file and migrates it to the current schema.
   *
   * @throws DatabaseError if the file is not a database or belongs to a newer version
   */
  constructor(path: string, options: SqliteOptions = {}) {
    this.#path = path;
    this.#journalKey = options.journalKey ?? null;
    this.#thread = options.thread ?? new SharedThread({ database: writerPart });
    this.#reading = openMigrated(path);
    this.#reading.exec("PRAGMA query_only = ON");
    this.tables = new Kysely<Tables>({ dialect: readingDialect(this.#reading) });
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  openWriter(listener: WriterListener): StoreWriter {
    const closed = Promise.withResolvers<void>();
    const port = this.#thread.open<WriterMessage, WriteResponse | null>("database", {
      onMessage: (response) => {
        if (response === null) closed.resolve();
        else listener.onResponse(response);
      },
      onError: (reason) => {
        closed.resolve();
        listener.onBroken(reason);
      },
    });
    port.post({ path: this.#path, key: this.#journalKey });
    return {
      write: (group) => port.post(group),
      close: async () => {
        port.post(null);
        await closed.promise;
        port.end();
      },
    };
  }

  close(): Promise<void> {
    this.#reading.close();
    return Promise.resolve();
  }
}
