import type { Database } from "./database.ts";

/**
 * A query for the rows of `ticket`, without a condition; null if there is no such table. Fields are
 * read as text: a column of numbers can hold one that JavaScript cannot.
 */
export function ticketRowsQuery(db: Database): string | null {
  const terms = db.columns("ticket").map((column) => {
    const quoted = `"${column.replaceAll('"', '""')}"`;
    return column.startsWith("tkt_") ? quoted : `CAST(${quoted} AS TEXT) AS ${quoted}`;
  });
  return terms.length === 0 ? null : `SELECT ${terms.join(", ")} FROM ticket`;
}
