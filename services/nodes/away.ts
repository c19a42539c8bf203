import { Unavailable } from "../errors.ts";

/** After how many seconds to try again what a node did not answer. */
export const RETRY_SECONDS = 2;

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
