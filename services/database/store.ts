import type { Kysely } from "kysely";
import type { WriteRequest, WriteResponse } from "./protocol.ts";
import type { Tables } from "./schema.ts";

/** Where the app database is: a SQLite file, or PostgreSQL. */
export interface Store {
  /** Builds queries of every kind and executes those that read. */
  readonly tables: Kysely<Tables>;
  /**
   * Resolves when nothing that a broken writer had can be written any more.
   *
   * @throws {Error} The store cannot be reached.
   */
  settle(): Promise<void>;
  /** Opens the only writer. */
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
  /** The outcome of a transaction. One is told at a time: its caller continues before the next. */
  onResponse(response: WriteResponse): void;
  /**
   * The writer is broken and answers nothing more; open another one. What it had may be written or
   * not.
   */
  onBroken(reason: string): void;
}
