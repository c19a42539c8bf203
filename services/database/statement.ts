import type { Compilable } from "kysely";
import type { SqlValue, Statement } from "./protocol.ts";

/**
 * Turns a query into a statement of a transaction.
 *
 * @param query an insert, update or delete, built with `Database.tables`
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
