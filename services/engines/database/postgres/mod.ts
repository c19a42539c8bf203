import type { Kysely } from "kysely";
import type { JournalKey } from "../journal.ts";
import type { Tables } from "../schema.ts";
import type { Peers, Store, StoreWriter, WriterListener } from "../store.ts";
import { DatabaseError } from "../migrate.ts";
import { isCut } from "./connection.ts";
import { type ClusterOptions, Member } from "./member.ts";
import { isCurrent, migratePostgres } from "./migrate.ts";
import { PostgresJournal } from "./postgres_journal.ts";
import { PostgresWriter } from "./postgres_writer.ts";
import { WritingSession } from "./session.ts";
import type { PostgresSettings } from "./settings.ts";
import { postgresTables } from "./reading.ts";

/** How often a connection is made that is cut before it is ready. */
const MAX_TRIES = 10;

export interface PostgresOptions extends PostgresSettings {
  /** The key that seals the event log; without one its rows are chained and not sealed. */
  readonly journalKey?: JournalKey;
  /** How long to wait for another program that uses the database, in milliseconds. */
  readonly patience?: number;
  /** This program as one of several nodes; without it, it is alone with the database. */
  readonly cluster?: ClusterOptions;
}

interface Parts {
  readonly settings: PostgresSettings;
  readonly journal: PostgresJournal;
  readonly session: WritingSession;
  readonly member: Member | null;
}

/** A database of PostgreSQL: several connections read it, and one writes. */
export class PostgresStore implements Store {
  readonly title = "PostgreSQL";
  readonly tables: Kysely<Tables>;
  readonly #settings: PostgresSettings;
  readonly #journal: PostgresJournal;
  readonly #member: Member | null;
  /** The connection for the next writer, if there is one already. */
  #next: WritingSession | null;

  private constructor(parts: Parts) {
    this.#settings = parts.settings;
    this.#journal = parts.journal;
    this.#member = parts.member;
    this.#next = parts.session;
    this.tables = postgresTables(this.#settings);
  }

  /**
   * Connects, and migrates the database to the current schema.
   *
   * @throws DatabaseError if the database cannot be used
   */
  static async open(options: PostgresOptions): Promise<PostgresStore> {
    const { url, password, journalKey, cluster, patience } = options;
    const session = await WritingSession.open(options, cluster?.node ?? null, patience);
    try {
      const journal = new PostgresJournal(journalKey ?? null);
      // The key may be older than the database: the nodes' keys are made before the first start.
      const migrate = () => migratePostgres(session, url, () => journal.begin(session));
      if (cluster === undefined) await migrate();
      else {
        const isDone = () => isCurrent(session, url);
        if (!await isDone()) await session.alone(isDone, migrate);
      }
      if (journalKey?.isNew === true) await journal.begin(session);
      const settings = { url, password };
      const member = cluster === undefined ? null : await Member.join(session, settings, cluster);
      return new PostgresStore({ settings, journal, session, member });
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  get peers(): Peers | null {
    return this.#member?.follower ?? null;
  }

  /**
   * A new connection gets the lock when the transactions of the one before it have ended. Without
   * the lock, another version may have changed the schema: then this program is at its end.
   */
  async settle(): Promise<void> {
    if (this.#next !== null && !this.#next.isOver) return;
    for (let tries = 1; !await this.#connect(tries < MAX_TRIES); tries++);
  }

  /**
   * Makes the connection for the next writer.
   *
   * @param mayFail whether one that is cut before it is ready is no error
   * @returns whether it is ready
   */
  async #connect(mayFail: boolean): Promise<boolean> {
    const { url } = this.#settings;
    let session: WritingSession | null = null;
    try {
      session = await WritingSession.open(this.#settings, this.#member?.node ?? null);
      await isCurrent(session, url);
      this.#next = session;
      return true;
    } catch (error) {
      await session?.close();
      if (mayFail && isCut(error)) return false;
      // Its lease ends, and with it everything that it serves.
      if (session !== null && error instanceof DatabaseError) void this.#member?.follower.close();
      throw error;
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
    return new PostgresWriter({ journal: this.#journal, open, listener, cluster: this.#member });
  }

  async close(): Promise<void> {
    await this.#member?.follower.close();
    await this.#next?.close();
    await this.tables.destroy();
  }
}
