import type { Scheduler } from "../../../kernel/scheduler.ts";
import type { Query } from "./connection.ts";

/** The clock by which leases run: PostgreSQL's own, in milliseconds. */
export const CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** How long a node may go on without a word to the database, in milliseconds. */
export const LEASE_MILLISECONDS = 6_000;

/** A node refuses to serve this much before the others stop waiting for it, in milliseconds. */
export const MARGIN_MILLISECONDS = 1_000;

/** Names a connection's node to the triggers. */
export function naming(node: string): Query {
  return ["SELECT set_config('muster.node', $1, false)", [node]];
}

/**
 * Begins a node's lease. Writers wait for the node from then on. So this belongs into a transaction
 * that holds the writers' lock, and in which the node finds what it has not seen.
 */
export function beginning(node: string, seen: number): Query {
  return [
    `INSERT INTO leases (node, seen, expires_at) VALUES ($1, $2, ${CLOCK} + ${LEASE_MILLISECONDS})
     ON CONFLICT (node) DO UPDATE SET seen = excluded.seen, expires_at = excluded.expires_at`,
    [node, seen],
  ];
}

/**
 * Extends a node's lease, and says up to which change it is current. Changes no row if the lease has
 * ended: then others may have written without waiting for this node.
 */
export function renewal(node: string, seen: number): Query {
  return [
    `UPDATE leases SET seen = $2, expires_at = ${CLOCK} + ${LEASE_MILLISECONDS}
     WHERE node = $1 AND expires_at > ${CLOCK}`,
    [node, seen],
  ];
}

/** Ends a node's lease. */
export function ending(node: string): Query {
  return ["DELETE FROM leases WHERE node = $1", [node]];
}

/** Makes a node the leader, or lets it stay the leader, unless another one is. */
export function leading(node: string): Query {
  return [
    `INSERT INTO leaders AS held (role, node, expires_at)
       VALUES ('leader', $1, ${CLOCK} + ${LEASE_MILLISECONDS})
     ON CONFLICT (role) DO UPDATE SET node = excluded.node, expires_at = excluded.expires_at
       WHERE held.node = excluded.node OR held.expires_at <= ${CLOCK}`,
    [node],
  ];
}

/** Lets another node lead. */
export function resigning(node: string): Query {
  return ["DELETE FROM leaders WHERE node = $1", [node]];
}

/** Changes a row if a node leads. Until the transaction ends, no other one begins to. */
export function stillLeading(node: string): Query {
  return [
    `UPDATE leaders SET node = node
     WHERE role = 'leader' AND node = $1 AND expires_at > ${CLOCK}`,
    [node],
  ];
}

/** Who leads; no row if nobody does. */
export const LEADER: Query = [`SELECT node FROM leaders WHERE expires_at > ${CLOCK}`];

/** The leases that run. */
export const RUNNING: Query = [`SELECT node, seen FROM leases WHERE expires_at > ${CLOCK}`];

/** By how much the time of day must jump to count, in milliseconds. */
const JUMP = 100;

/**
 * The time by which a node counts its lease, in milliseconds. It never goes slower than that of
 * PostgreSQL: it goes on when somebody sets the time of day back, and jumps with it when the machine
 * has slept.
 */
export class LeaseClock {
  readonly #scheduler: Pick<Scheduler, "now" | "steady">;
  /** The time of day less that of the steady clock, when it was last read. */
  #gap: number;
  #jumped = 0;

  constructor(scheduler: Pick<Scheduler, "now" | "steady">) {
    this.#scheduler = scheduler;
    this.#gap = scheduler.now() - scheduler.steady();
  }

  now(): number {
    const steady = this.#scheduler.steady();
    const gap = this.#scheduler.now() - steady;
    if (gap - this.#gap > JUMP) this.#jumped += gap - this.#gap;
    this.#gap = gap;
    return steady + this.#jumped;
  }
}
