import type { JournalKey, NewEvent, Trim } from "./journal.ts";

/** One statement of a transaction. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the whole transaction is undone where this statement changes no row. */
  readonly mustChange: boolean;
}

/** What a column holds and a parameter may be. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** What the writer is told first. */
export interface OpenRequest {
  readonly path: string;
  readonly key: JournalKey | null;
}

/** What the main thread asks of the writer: one transaction. */
export interface WriteRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
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
