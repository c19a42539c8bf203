import type { Kysely } from "kysely";
import type { FollowedTable, ReadOnTable, ToldRow } from "./followed.ts";
import type { AppendedEvent, Statement, WriteRequest, WriteResponse } from "./protocol.ts";
import type { Tables } from "./schema.ts";

/** Where the app database is: a SQLite file, or PostgreSQL. */
export interface Store {
  /** What it is called in sentences, such as "PostgreSQL". */
  readonly title: string;
  /** Builds queries of every kind and executes those that read. */
  readonly tables: Kysely<Tables>;
  /**
   * Resolves when nothing that a broken writer had can be written any more.
   *
   * @throws {Error} The store cannot be reached.
   */
  settle(): Promise<void>;
  /** The other programs that write the same store; null if there can be none. */
  readonly peers: Peers | null;
  /** Opens the only writer of this program. */
  openWriter(listener: WriterListener): StoreWriter;
  /** Ends reading. The writer is closed before. */
  close(): Promise<void>;
}

/** Executes transactions in turn. */
export interface StoreWriter {
  /** Executes a group of transactions, each of which does everything or nothing. */
  write(group: readonly WriteRequest[]): void;
  /** Finishes what it has, and closes. */
  close(): Promise<void>;
}

/** Hears what a writer answers. */
export interface WriterListener {
  /**
   * The outcome of a transaction. Without other programs, one is told at a time: its caller continues
   * before the next.
   *
   * @param confirmed settles when the other programs have seen it
   */
  onResponse(response: WriteResponse, confirmed?: Promise<void>): void;
  /**
   * The writer is broken and answers nothing more; open another one. What it had may be written or
   * not.
   *
   * @param isUndone whether it has surely written nothing of what it did not answer
   */
  onBroken(reason: string, isUndone?: boolean): void;
}

/** Other programs that write the same store. */
export interface Peers {
  /**
   * Whether this program knows what the others have committed. If not, they no longer wait for it,
   * and it must let nobody in.
   */
  readonly isCurrent: boolean;
  /** How long that lasts unless it is renewed, in milliseconds. */
  readonly currentFor: number;
  /** The name of this program among them. */
  readonly self: string;
  /** The names of those that run, this one among them, as of a second ago. */
  readonly running: ReadonlySet<string>;
  /** The one that does what only one may do; null while nobody does, for a few seconds at most. */
  readonly leader: string | null;
  /** Whether this program is the leader. It stops before another one begins. */
  readonly isLeading: boolean;
  /** A statement that rolls back its transaction as `Unchanged` unless this program leads. */
  readonly whileLeading: Statement;
  /** Says whether this program may lead; at first it may not. */
  stand(isCandidate: boolean): void;
  /**
   * Resolves when this program knows what the others have committed before.
   *
   * @throws Unavailable if the database cannot be used
   */
  catchUp(): Promise<void>;
  /**
   * Resolves when the others have seen all that is committed now.
   *
   * @throws Unavailable if the database cannot be used, or that takes long
   */
  confirm(): Promise<void>;
  /** Tells a listener what the others commit, from now on. */
  listen(listener: PeerListener): void;
  /** Uses notes in the place of the database, wherever they reach. */
  use(notes: PeerNotes): void;
}

/**
 * Tells other programs something at less cost than the database does. A note can get lost. None comes
 * twice, and those of one program come in their order.
 */
export interface PeerNotes {
  /** The other programs that notes reach at the moment. */
  readonly reached: readonly string[];
  /** Tells it something; false if that is not possible at the moment. */
  tell(peer: string, text: string): boolean;
  /** Calls a listener with each note, and with the name of the program that it is from. */
  listen(listener: (peer: string, text: string) => void): void;
}

/** New rows of {@linkcode ToldRow}'s table, in their order. */
export interface Told {
  readonly rows: readonly ToldRow[];
  /** Resolves when all other programs have seen them. Rejects with Unavailable if that takes long. */
  confirmed(): Promise<void>;
}

/** Hears what other programs commit. */
export interface PeerListener {
  /**
   * They changed rows of some tables. They wait until this resolves, but not for every table; if it
   * throws, it is called again.
   */
  changed(tables: ReadonlySet<FollowedTable>): Promise<void>;
  /**
   * They or this program added rows whose table is told, up to these; null if the rows are to be read.
   * As with {@link changed}, they wait.
   */
  told(told: Told | null): Promise<void>;
  /** Events up to this number can be read; the last of them, if they were told. */
  appended(newest: number, events: readonly AppendedEvent[] | null): void;
  /** They wrote rows of a table that no directory holds. Some of this is told by {@link looked} alone. */
  wrote(table: ReadOnTable): void;
  /** Each second or so: programs may have begun or ended, and another one may lead. */
  looked(): void;
}
