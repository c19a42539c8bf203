/** Turns errors of the Fossil engine into service errors. */
import {
  Conflict,
  Invalid,
  NotFound,
  type ServiceError,
  TimedOut,
  TooLarge,
  Unavailable,
} from "../../../kernel/errors.ts";
import {
  describeError,
  errorCodeOf,
  FossilError,
  type FossilErrorCode,
} from "../../../engines/fossil/front/mod.ts";

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

/** Errors whose message may name the file. */
const NAMES_FILE: ReadonlySet<string> = new Set(["corrupt", "unsupported"]);

/** A path in a message of the engine. */
const PATH = /"\/[^"\n]*"/g;

/**
 * Translates an error of the engine, of SQLite or of the system below it.
 *
 * @param name what to call the repository if SQLite or the system refuses it, such as its path.
 * Leave it out if the caller must not learn paths.
 * @returns null for any other error, which is a bug
 */
export function serviceErrorOf(error: unknown, name?: string): ServiceError | null {
  const code = errorCodeOf(error);
  if (code === null) return null;
  const translated = new ERRORS[code](messageOf(error, name));
  translated.cause = error;
  return translated;
}

function messageOf(error: unknown, name?: string): string {
  if (!(error instanceof FossilError)) {
    const called = name ?? "The repository";
    return describeError(error, called) ?? `${called} cannot be read or written`;
  }
  if (name !== undefined || !NAMES_FILE.has(error.code)) return error.message;
  return error.message.replaceAll(PATH, (_, at) => `${at === 0 ? "The" : "the"} repository`);
}
