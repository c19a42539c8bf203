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
  /** The connection of the start, until the first writer takes it. */
  #first: WritingSession | null;

  private constructor(options: PostgresOptions, journal: PostgresJournal, session: WritingSession) {
    this.#settings = { url: options.url, password: options.password };
    this.#journal = journal;
    this.#first = session;
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

  openWriter(listener: WriterListener): StoreWriter {
    const open = () => {
      const first = this.#first;
      this.#first = null;
      return first === null || first.isOver
        ? WritingSession.open(this.#settings)
        : Promise.resolve(first);
    };
    return new PostgresWriter({ journal: this.#journal, open, listener });
  }

  async close(): Promise<void> {
    await this.#first?.close();
    await this.tables.destroy();
  }
}
