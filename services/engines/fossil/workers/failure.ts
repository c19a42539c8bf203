import { describeError, errorCodeOf, FossilError } from "../error.ts";
import type { JobAnswer } from "./protocol.ts";

/** The description of an error for the caller. */
export function failureOf(error: unknown): JobAnswer {
  const code = errorCodeOf(error);
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  if (code === null) return { kind: "broken", message, stack };
  return { kind: "refused", code, message: error instanceof FossilError ? message : told(error) };
}

/** A sentence without the path and the raw text of an error of SQLite or of the system. */
function told(error: unknown): string {
  return describeError(error, "The repository") ?? "The repository cannot be read or written";
}
