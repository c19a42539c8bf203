/** Errors on their way out of a worker. */
import { describeError, errorCodeOf, FossilError, type FossilErrorCode } from "../error.ts";

/** Why a job, or one of its writes, was not done. */
export type Failure =
  | { readonly kind: "refused"; readonly code: FossilErrorCode; readonly message: string }
  /** An error of neither the engine nor the disk: a bug. */
  | { readonly kind: "broken"; readonly message: string; readonly stack: string };

/** The description of an error for the caller. */
export function failureOf(error: unknown): Failure {
  const code = errorCodeOf(error);
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  if (code === null) return { kind: "broken", message, stack };
  return { kind: "refused", code, message: error instanceof FossilError ? message : told(error) };
}

/** A sentence without the path and the raw text of an error of SQLite or of the system. */
function told(error: unknown): string {
  return describeError(error, "The repository") ?? "The repository cannot be read or written";
}

/** The error that a failure describes. */
export function errorOf(failure: Failure): Error {
  if (failure.kind === "refused") return new FossilError(failure.code, failure.message);
  const error = new Error(failure.message);
  error.stack = failure.stack;
  return error;
}
