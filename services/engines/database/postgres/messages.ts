import { type FollowedTable, LATER, TOLD, type ToldRow } from "../followed.ts";
import type { AppendedEvent } from "../protocol.ts";
import { IS_AWAITED } from "./cluster_setup.ts";
import { CLOCK } from "./lease.ts";

/**
 * What the other nodes have changed after a change, and how far the log of events goes. Lines of this
 * node count too: what it is told later of a commit that a look has passed tells it nothing new.
 */
export const LOOK = `
  SELECT (SELECT coalesce(max(id), 0) FROM changes) AS last,
    (SELECT coalesce(max(seq), 0) FROM events) AS newest,
    (SELECT coalesce(json_agg(DISTINCT source), '[]') FROM changes, unnest(sources) AS source
      WHERE id > $1 AND (node <> $2 OR source = '${TOLD}')) AS sources`;

/** The other nodes, and what each of them must say that it has seen. */
export const OTHERS = `
  SELECT node, (
    SELECT coalesce(max(id), 0) FROM changes
    WHERE ${IS_AWAITED} AND (changes.node <> leases.node OR '${TOLD}' = ANY (sources))
  ) AS change
  FROM leases WHERE node <> $1 AND expires_at > ${CLOCK}`;

/** What {@linkcode LOOK} finds. */
export interface Found {
  readonly last: number;
  readonly newest: number;
  readonly sources: readonly FollowedTable[];
}

/** What a node tells all nodes of a transaction. */
export interface Commit {
  /** The newest change before it, and its own newest; null if it notes none. */
  readonly previous: number | null;
  readonly last: number | null;
  readonly sources: readonly FollowedTable[];
  /** The newest event. */
  readonly newest: number;
  /** The nodes that must see it, beside the one that committed it; null if there are too many. */
  readonly nodes: readonly string[] | null;
  /** The rows that it added to {@linkcode TOLD}; null if there are too many. */
  readonly rows: readonly ToldRow[] | null;
  /** The events that it appended; null if there are too many. */
  readonly events: readonly AppendedEvent[] | null;
}

/** A transaction of which this node was told. */
export interface ToldCommit extends Commit {
  /** The node that committed it. */
  readonly node: string;
}

/**
 * What a node tells others: a transaction, as a {@linkcode Commit}; the change up to which it has seen
 * all; or a table that nodes read on.
 */
export type TellingKind = "committed" | "saw" | "wrote";

/** Whether the node that changed these tables waits until others have loaded them. */
export function isAwaited(sources: readonly FollowedTable[]): boolean {
  return sources.some((source) => !LATER.has(source));
}
