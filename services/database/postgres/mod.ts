import type { Kysely } from "kysely";
import type { JournalKey } from "../journal.ts";
import type { Tables } from "../schema.ts";
import type { Store, StoreWriter, WriterListener } from "../store.ts";
import { migratePostgres } from "./migrate.ts";
import { PostgresJournal } from "./postgres_journal.ts";
import { PostgresWriter } from "./postgres_writer.ts";
import { WritingSession } from "./session.ts";
import type { PostgresSettings } from "./settings.ts";
import { postgresTables } from "./tables.ts";

export interface PostgresOptions extends PostgresSettings {
  /** The key that seals the event log; without one its rows are chained and not sealed. */
  readonly journalKey?: JournalKey;
  /** How long to wait for another program that uses the database, in milliseconds. */
  readonly patience?: number;
}

/** A database of PostgreSQL: several connections read it, and one writes. */
export class PostgresStore implements Store {
  readonly tables: Kysely<Tables>;
  readonly #settings: PostgresSettings;
  readonly #journal: PostgresJournal;
  /** The connection for the next writer, if there is one already. */
  #next: WritingSession | null;

  private constructor(options: PostgresOptions, journal: PostgresJournal, session: WritingSession) {
    this.#settings = { url: options.url, password: options.password };
    this.#journal = journal;
    this.#next = session;
    this.tables = postgresTables(this.#settings);
  }

  /**
   * Connects, and migrates the database to the current schema.
   *
   * @throws DatabaseError if the database cannot be used
   */
  static async open(options: PostgresOptions): Promise<PostgresStore> {
    const session = await WritingSession.open(options, options.patience);
    try {
      await migratePostgres(session, options.url);
      const journal = new PostgresJournal(options.journalKey ?? null);
      if (options.journalKey?.isNew === true) await journal.begin(session);
      return new PostgresStore(options, journal, session);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** A new connection gets the lock when the transactions of the one before it have ended. */
  async settle(): Promise<void> {
    if (this.#next === null || this.#next.isOver) {
      this.#next = await WritingSession.open(this.#settings);
    }
  }

  openWriter(listener: WriterListener): StoreWriter {
    const open = () => {
      const next = this.#next;
      this.#next = null;
      if (next !== null && !next.isOver) return Promise.resolve(next);
      // Another program may have had the lock meanwhile.
      return Promise.reject(new Error("The connection to PostgreSQL was lost"));
    };
    return new PostgresWriter({ journal: this.#journal, open, listener });
  }

  async close(): Promise<void> {
    await this.#next?.close();
    await this.tables.destroy();
  }
}
