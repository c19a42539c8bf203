import type { Compilable } from "kysely";
import type { NewEvent } from "./journal.ts";
import type { Outcome, SqlValue, Statement } from "./protocol.ts";

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

/** What one transaction writes. */
export interface Change {
  readonly statements?: readonly Statement[];
  readonly events?: readonly NewEvent[];
}

/** What a committed transaction did; see {@linkcode Outcome}. */
export type Committed = Pick<Outcome, "changes" | "sequence">;

/**
 * Turns a query into a statement of a transaction.
 *
 * @param query an insert, update or delete, built with {@link Database.tables}
 * @param options `mustChange` rolls back the transaction if the statement changes no row;
 * `committed` is called once the transaction is on disk
 */
export function statement(
  query: Compilable,
  options: { mustChange?: boolean; committed?: (changes: number) => void } = {},
): Statement {
  const { sql, parameters } = query.compile();
  return {
    sql,
    parameters: parameters as readonly SqlValue[],
    mustChange: options.mustChange ?? false,
    ...(options.committed === undefined ? {} : { committed: options.committed }),
  };
}
