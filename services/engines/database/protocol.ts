import type { Selectable } from "kysely";
import type { JournalKey, NewEvent, Trim } from "./journal.ts";
import type { EventsTable } from "./schema.ts";

/** One statement as the writer executes it. */
export interface WireStatement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the whole transaction is rolled back if this statement changes no row. */
  readonly mustChange: boolean;
}

/** One statement of a transaction. */
export interface Statement extends WireStatement {
  /**
   * Updates a directory in memory. Called once the transaction is on disk, before its caller
   * continues, in the order of commits and, within a transaction, of statements. It must not throw.
   *
   * @param changes the number of rows that the statement changed
   */
  readonly committed?: (changes: number) => void;
}

/** The type of columns and parameters. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** The first message to the writer. */
export interface OpenRequest {
  readonly path: string;
  readonly key: JournalKey | null;
}

/** A request to the writer: one transaction. */
export interface WriteRequest {
  readonly id: number;
  readonly statements: readonly WireStatement[];
  readonly events: readonly NewEvent[];
  /** What to remove from the start of the event log; `null` for nothing. */
  readonly trim: Trim | null;
}

/** What a committed transaction did. */
export interface Outcome {
  /** The number of rows that each statement changed. */
  readonly changes: readonly number[];
  /** The number of each event. */
  readonly sequence: readonly number[];
  /** How many events were removed from the start of the log. */
  readonly trimmed: number;
}

/** A row of the event log, as it is stored. */
export type AppendedEvent = Omit<Selectable<EventsTable>, "project_id">;

/** The writer's answer: what the transaction did, or why nothing was written. */
export type WriteResponse =
  | ({ id: number; kind: "committed"; appended?: readonly AppendedEvent[] } & Outcome)
  | { id: number; kind: "unchanged"; statement: number }
  | { id: number; kind: "duplicate"; message: string }
  | { id: number; kind: "failed"; message: string; storage: boolean };

/** A statement that had to change a row changed none. */
export class Undone extends Error {
  readonly statement: number;

  constructor(statement: number) {
    super("A statement changed no row");
    this.statement = statement;
  }
}

/** A transaction was rolled back because a unique name, id or hash is taken. */
export class Duplicate extends Error {
  override readonly name = "Duplicate";
}

/** A transaction was rolled back because a statement that had to change a row changed none. */
export class Unchanged extends Error {
  override readonly name = "Unchanged";
  /** The statement's place in the transaction, from 0. */
  readonly statement: number;

  constructor(statement: number) {
    super(`Statement ${statement} changed no row`);
    this.statement = statement;
  }
}
