import type { DatabaseSync } from "node:sqlite";

/**
 * Undoes the transaction of a connection, if one is open. After a full disk, a read error or a lack
 * of memory, SQLite has often rolled it back already, and then refuses `ROLLBACK`.
 *
 * @param connection the connection. Older runtimes (Deno 2.4) do not report whether a transaction
 * is open; there, `BEGIN` finds out.
 * @see {@link https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction}
 */
export function rollBack(connection: TransactionalDatabase): void {
  if (connection.isTransaction === undefined) ensureTransaction(connection);
  else if (!connection.isTransaction) return;
  connection.exec("ROLLBACK");
}

/** A connection of `node:sqlite`, new or old. */
type TransactionalDatabase = Pick<DatabaseSync, "exec"> & { readonly isTransaction?: boolean };

/** A deferred transaction takes no lock and reads nothing, so only an open one can refuse it. */
function ensureTransaction(connection: TransactionalDatabase): void {
  try {
    connection.exec("BEGIN");
  } catch {
    // A transaction is open.
  }
}
