/** Advice for a model after a tool has failed. */

import {
  Conflict,
  Forbidden,
  NotFound,
  ServiceError,
  TimedOut,
  TooLarge,
  TooMany,
  Unavailable,
} from "../services/errors.ts";

/** What to do about a kind of failure, as a sentence; for missing kinds there is general advice. */
export interface Advice {
  /** Something that the call names does not exist. */
  readonly notFound?: string;
  /** The present state does not allow it. */
  readonly conflict?: string;
  /** No answer came in time; it may or may not have been done. */
  readonly timedOut?: string;
}

/** Default seconds after which to try again. */
const PAUSE_SECONDS = 60;

/**
 * Formulates a failure for a model: what is wrong, and what to do about it.
 *
 * @returns null for a bug, whose details the caller may not see
 */
export function explain(error: unknown, advice: Advice): string | null {
  if (!(error instanceof ServiceError)) return null;
  const remedy = remedyFor(error, advice);
  if (remedy === null) return error.message;
  const end = /[.!?]$/.test(error.message) ? "" : ".";
  return `${error.message}${end} ${remedy}`;
}

/** Null if the message itself says what to change. */
function remedyFor(error: ServiceError, advice: Advice): string | null {
  if (error instanceof Forbidden) return "Ask the operator to allow it, or go on without it";
  if (error instanceof NotFound) return advice.notFound ?? "Check the name";
  if (error instanceof Conflict) return advice.conflict ?? "Change the call, or ask the operator";
  if (error instanceof TooLarge) return "Make it shorter, or send it in parts";
  if (error instanceof TooMany) {
    return `Try again in ${Math.ceil(error.retryAfterSeconds ?? PAUSE_SECONDS)} seconds`;
  }
  if (error instanceof Unavailable) {
    return "Try again in a few seconds, and tell the operator if that does not help";
  }
  if (error instanceof TimedOut) return advice.timedOut ?? "Try again in a few seconds";
  return null;
}
