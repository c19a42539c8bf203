// @ts-types="./pg.d.ts"
import pg, { type Client } from "pg";
import { clientOptions, STAY } from "./connection.ts";
import { naming } from "./lease.ts";
import type { PostgresSettings } from "./settings.ts";

/** How long a query may take, in milliseconds: shorter than a lease. */
const QUERY_MILLISECONDS = 4_000;

export interface ListenerOptions {
  readonly settings: PostgresSettings;
  /** The name of this node. */
  readonly node: string;
  /** The channel by which nodes notify each other. */
  readonly channel: string;
}

/**
 * Opens a connection that gets what nodes tell each other from then on.
 *
 * @throws the error of the connection
 */
export async function connectListener(
  { settings, node, channel }: ListenerOptions,
): Promise<Client> {
  const client = new pg.Client({
    ...clientOptions(settings),
    application_name: `muster follower ${node}`,
    connectionTimeoutMillis: QUERY_MILLISECONDS,
    query_timeout: QUERY_MILLISECONDS,
  });
  // A query that is under way meets the error too; unheard, it ends the program.
  client.on("error", () => {});
  try {
    await client.connect();
    // Nobody needs a lease from before a crash.
    await client.query(`SET synchronous_commit = off; ${STAY}`);
    await client.query(...naming(node));
    await client.query(`LISTEN ${channel}`);
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}
