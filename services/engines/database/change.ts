import type { Compilable } from "kysely";
import type { NewEvent } from "./journal.ts";
import type { Outcome, SqlValue, Statement } from "./protocol.ts";

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
