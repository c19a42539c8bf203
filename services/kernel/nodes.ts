/**
 * What parts of the program may know of the servers that share the database with this one, and how
 * they ask them. `services/cluster` implements it.
 */
import { Unavailable } from "./errors.ts";

/** After how many seconds to try again while no node leads. */
export const RETRY_SECONDS = 2;

/** A server that shares the database. */
export interface NodeRecord {
  readonly name: string;
  /** Where the other nodes reach its API. */
  readonly url: string;
  readonly version: string;
  /** Unix milliseconds, like all times here. */
  readonly startedAt: number;
  /** Since when it takes no new work, or null. */
  readonly drainedAt: number | null;
}

/** The nodes, in memory. A server that is alone has none. */
export interface NodeDirectory {
  /** The name of this node; null if it is alone. */
  readonly self: string | null;
  all(): readonly NodeRecord[];
  find(name: string): NodeRecord | null;
  /** Whether a node was heard of lately. */
  isRunning(name: string): boolean;
}

/** Asks other nodes, for this node itself. */
export interface NodeCalls {
  /** @throws Unavailable if the node does not run or does not answer */
  ask(
    node: NodeRecord,
    request: {
      readonly method: string;
      readonly target: string;
      readonly body?: string;
      readonly signal?: AbortSignal;
    },
  ): Promise<Response>;
}

/**
 * The error for what only a node can do that does not run. It has no name of a node: strangers may
 * read it.
 */
export function nobodyRuns(): Unavailable {
  return away("The node that can answer this does not run at the moment");
}

/** The same for an operator, with the name of the node. */
export function notRunning(name: string): Unavailable {
  return away(`The node "${name}" does not run at the moment`);
}

/** The error for what another node does not answer. */
export function away(message: string, cause?: unknown): Unavailable {
  return new Unavailable(message, { retryAfterSeconds: RETRY_SECONDS, cause });
}
