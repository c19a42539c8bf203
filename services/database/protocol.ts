import type { NewEvent } from "./journal.ts";

/** One statement of a transaction. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the whole transaction is undone where this statement changes no row. */
  readonly mustChange: boolean;
}

/** What a column holds and a parameter may be. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** What the main thread asks of the writer: one transaction. */
export interface WriteRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
  readonly events: readonly NewEvent[];
}

/** What the writer answers: how many rows each statement changed, or why nothing was written. */
export type WriteResponse =
  | { id: number; kind: "committed"; changes: number[]; sequence: number[] }
  | { id: number; kind: "unchanged"; statement: number }
  | { id: number; kind: "duplicate"; message: string }
  | { id: number; kind: "failed"; message: string; storage: boolean };
