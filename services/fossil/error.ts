/**
 * What went wrong:
 * - `corrupt`: stored or received bytes do not decode, or do not have the hash they claim;
 * - `limit`: a bound of the engine was hit (declared size, chain length, …);
 * - `invalid`: the caller asked for something that cannot be written;
 * - `conflict`: the repository has moved on since the caller looked, or a rule of it forbids the write;
 * - `ambiguous`: a prefix fits several artifacts;
 * - `missing`: the named artifact is unknown, or is a phantom (its name is known, its bytes are not);
 * - `unsupported`: the file is no repository, or one that this engine refuses to open;
 * - `unavailable`: it may work later: too much waits, the disk refuses, or a worker has ended.
 */
export type FossilErrorCode =
  | "corrupt"
  | "limit"
  | "invalid"
  | "conflict"
  | "ambiguous"
  | "missing"
  | "unsupported"
  | "unavailable";

/** The one error class of the engine. Anything else that is thrown is a bug or SQLite's own error. */
export class FossilError extends Error {
  override readonly name = "FossilError";
  readonly code: FossilErrorCode;

  constructor(code: FossilErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * What SQLite's primary result codes mean for the caller: BUSY, LOCKED, READONLY, IOERR, FULL and
 * CANTOPEN may be gone later, CORRUPT and NOTADB will not.
 *
 * @see {@link https://www.sqlite.org/rescode.html}
 */
const SQLITE_CODES: ReadonlyMap<number, FossilErrorCode> = new Map([
  [5, "unavailable"],
  [6, "unavailable"],
  [8, "unavailable"],
  [10, "unavailable"],
  [13, "unavailable"],
  [14, "unavailable"],
  [11, "corrupt"],
  [26, "corrupt"],
]);

/** The same in words, for where the runtime does not pass the code on (Deno 2.4.2). */
const SQLITE_WORDS: readonly (readonly [RegExp, FossilErrorCode])[] = [
  [/database(?: table)? is locked|readonly database|disk|unable to open/i, "unavailable"],
  [/malformed|not a database/i, "corrupt"],
];

/** The code that describes an error of the engine, of SQLite or of the system; null for a bug. */
export function errorCodeOf(error: unknown): FossilErrorCode | null {
  if (error instanceof FossilError) return error.code;
  if (!(error instanceof Error)) return null;
  const { message } = error;
  const number = "errcode" in error && typeof error.errcode === "number" ? error.errcode : null;
  if (number !== null) return SQLITE_CODES.get(number & 0xff) ?? null;
  const isFromSystem = error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.PermissionDenied || /os error/.test(message);
  if (isFromSystem) return "unavailable";
  return SQLITE_WORDS.find(([words]) => words.test(message))?.[1] ?? null;
}
