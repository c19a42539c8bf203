/** What a node asks of PostgreSQL when it looks for what others have written. */
// @ts-types="./pg.d.ts"
import type { Client } from "pg";
import { Unavailable } from "../../../kernel/errors.ts";
import { beginning, renewal } from "./lease.ts";
import { type Found, LOOK } from "./messages.ts";
import { LOG_LOCK } from "./postgres_journal.ts";

/**
 * Finds what was written since a change.
 *
 * @throws Unavailable if PostgreSQL says nothing
 */
export async function find(client: Client, node: string, seen: number): Promise<Found> {
  const { rows: [found] } = await client.query<Found>(LOOK, [seen, node]);
  if (found === undefined) throw new Unavailable("The database says nothing of other nodes");
  return found;
}

/**
 * Begins a lease after the last one has ended, and finds what was written since a change. All that is
 * written later waits for this node.
 */
export async function comeBack(client: Client, node: string, seen: number): Promise<Found> {
  await client.query("BEGIN");
  await client.query(...LOG_LOCK);
  const found = await find(client, node, seen);
  await client.query(...beginning(node, seen));
  await client.query("COMMIT");
  return found;
}

/** Extends the lease of a node that is current up to a change; resolves to false if it has ended. */
export async function renew(client: Client, node: string, seen: number): Promise<boolean> {
  const { rowCount } = await client.query(...renewal(node, seen));
  return rowCount === 1;
}
