import type { JournalKey, NewEvent, Trim } from "./journal.ts";

/** One statement as the writer executes it. */
export interface WireStatement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the whole transaction is undone where this statement changes no row. */
  readonly mustChange: boolean;
}

/** One statement of a transaction. */
export interface Statement extends WireStatement {
  /**
   * Brings a directory in memory up to date. Called once the transaction is on disk, before its
   * caller continues, in the order of commits and, within a transaction, of statements. It must not
   * throw.
   *
   * @param changes how many rows the statement changed
   */
  readonly committed?: (changes: number) => void;
}

/** What a column holds and a parameter may be. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** The first message to the writer. */
export interface OpenRequest {
  readonly path: string;
  readonly key: JournalKey | null;
}

/** What the main thread asks of the writer: one transaction. */
export interface WriteRequest {
  readonly id: number;
  readonly statements: readonly WireStatement[];
  readonly events: readonly NewEvent[];
  /** What to remove from the beginning of the event log; `null` where nothing. */
  readonly trim: Trim | null;
}

/** What the writer answers: what the transaction did, or why nothing was written. */
export type WriteResponse =
  | { id: number; kind: "committed"; changes: number[]; sequence: number[]; trimmed: number }
  | { id: number; kind: "unchanged"; statement: number }
  | { id: number; kind: "duplicate"; message: string }
  | { id: number; kind: "failed"; message: string; storage: boolean };
