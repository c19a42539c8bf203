import type { Query } from "./session.ts";
import { CLOCK } from "./cluster_setup.ts";

/** How long a node may go on without a word to the database, in milliseconds. */
export const LEASE_MILLISECONDS = 6_000;

/** A node refuses to serve this much before the others stop waiting for it, in milliseconds. */
export const MARGIN_MILLISECONDS = 1_000;

/** Names a connection's node to the triggers. */
export function naming(node: string): Query {
  return ["SELECT set_config('muster.node', $1, false)", [node]];
}

/** Extends a node's lease, and says up to which change it is current. */
export function renewal(node: string, seen: number): Query {
  return [
    `INSERT INTO leases (node, seen, expires_at) VALUES ($1, $2, ${CLOCK} + ${LEASE_MILLISECONDS})
     ON CONFLICT (node) DO UPDATE SET seen = excluded.seen, expires_at = excluded.expires_at`,
    [node, seen],
  ];
}

/** Ends a node's lease. */
export function ending(node: string): Query {
  return ["DELETE FROM leases WHERE node = $1", [node]];
}

/** The leases that run. */
export const RUNNING: Query = [`SELECT node, seen FROM leases WHERE expires_at > ${CLOCK}`];
