/** Turns errors of the Fossil engine into service errors. */
import {
  Conflict,
  Invalid,
  NotFound,
  type ServiceError,
  TimedOut,
  TooLarge,
  Unavailable,
} from "../../errors.ts";
import { describeError, errorCodeOf, FossilError, type FossilErrorCode } from "../../fossil/mod.ts";

/** The service error for each code of the engine. */
const ERRORS: Readonly<Record<FossilErrorCode, new (message: string) => ServiceError>> = {
  invalid: Invalid,
  ambiguous: Invalid,
  missing: NotFound,
  conflict: Conflict,
  limit: TooLarge,
  timeout: TimedOut,
  unavailable: Unavailable,
  // The request is fine; the file needs a person.
  corrupt: Unavailable,
  unsupported: Unavailable,
};

/**
 * Translates an error of the engine, of SQLite or of the system below it.
 *
 * @param name what to call the repository if SQLite or the system refuses it, such as its path.
 * Keep the default if the caller must not learn paths.
 * @returns null for any other error, which is a bug
 */
export function serviceErrorOf(error: unknown, name = "The repository"): ServiceError | null {
  const code = errorCodeOf(error);
  if (code === null) return null;
  const translated = new ERRORS[code](messageOf(error, name));
  translated.cause = error;
  return translated;
}

function messageOf(error: unknown, name: string): string {
  if (error instanceof FossilError) return error.message;
  return describeError(error, name) ?? `${name} cannot be read or written`;
}
