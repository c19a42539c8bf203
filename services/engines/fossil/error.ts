/**
 * The kind of an error:
 * - `corrupt`: stored or received bytes do not decode, or do not match their hash;
 * - `limit`: a bound of the engine was hit (declared size, chain length, …);
 * - `timeout`: the work exceeded its time limit;
 * - `invalid`: the request cannot be fulfilled as stated;
 * - `conflict`: the repository has changed meanwhile, or one of its rules forbids the write;
 * - `ambiguous`: a prefix fits several artifacts;
 * - `missing`: the named artifact is unknown, or is a phantom (its name is known, its bytes are not);
 * - `unsupported`: the file is not a repository, or one that this engine refuses to open;
 * - `unavailable`: it may work later: a queue is full, the disk refuses, or a worker has ended.
 */
export type FossilErrorCode =
  | "corrupt"
  | "limit"
  | "timeout"
  | "invalid"
  | "conflict"
  | "ambiguous"
  | "missing"
  | "unsupported"
  | "unavailable";

/** The only error class of the engine. Any other error is a bug or an error of SQLite. */
export class FossilError extends Error {
  override readonly name = "FossilError";
  readonly code: FossilErrorCode;

  constructor(code: FossilErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A refusal by SQLite or the system, and its meaning for the caller. */
interface Refusal {
  readonly code: FossilErrorCode;
  /** Primary result codes of SQLite. */
  readonly numbers: readonly number[];
  /** The same in words, for runtimes that do not pass the code on (Deno 2.4.2). */
  readonly words: RegExp;
  /** The same as a clause whose subject is the file. */
  readonly clause: string;
}

/** @see {@link https://www.sqlite.org/rescode.html} */
const LOCKED: Refusal = {
  code: "unavailable",
  numbers: [5, 6],
  words: /database(?: table)? is locked/i,
  clause: "is locked by another program",
};
const READ_ONLY: Refusal = {
  code: "unavailable",
  numbers: [8],
  words: /readonly database/i,
  clause: "cannot be written",
};
const CANNOT_OPEN: Refusal = {
  code: "unavailable",
  numbers: [14],
  words: /unable to open/i,
  clause: "cannot be opened, or its folder cannot be written",
};
const INPUT_OUTPUT: Refusal = {
  code: "unavailable",
  numbers: [10],
  words: /disk I\/O/i,
  clause: "cannot be read or written: the disk reports an error",
};
const REFUSALS: readonly Refusal[] = [
  LOCKED,
  READ_ONLY,
  CANNOT_OPEN,
  {
    code: "unavailable",
    numbers: [13],
    words: /disk is full/i,
    clause: "does not fit on the disk, which is full",
  },
  INPUT_OUTPUT,
  {
    code: "corrupt",
    numbers: [11, 26],
    words: /malformed|not a database/i,
    clause: "is damaged",
  },
];

function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || error instanceof FossilError) return undefined;
  const { message } = error;
  if ("errcode" in error && typeof error.errcode === "number") {
    const number = error.errcode & 0xff;
    return REFUSALS.find(({ numbers }) => numbers.includes(number));
  }
  return REFUSALS.find(({ words }) => words.test(message));
}

/** The code that describes an error of the engine, of SQLite or of the system; null for a bug. */
export function errorCodeOf(error: unknown): FossilErrorCode | null {
  if (error instanceof FossilError) return error.code;
  if (isFromSystem(error)) return "unavailable";
  return refusalOf(error)?.code ?? null;
}

/**
 * Describes an error in a sentence that begins with the file's name.
 *
 * @param name what to call the file, such as its path or "The repository".
 * @returns null for an error that says nothing about a file, such as one of the engine.
 */
export function describeError(error: unknown, name: string): string | null {
  const clause = refusalOf(error)?.clause ?? systemClauseOf(error);
  return clause === null ? null : `${name} ${clause}`;
}

/** Refusals of the system to make, move or remove a file; their words have the error's number. */
const SYSTEM_CLAUSES: readonly { readonly words: RegExp; readonly clause: string }[] = [
  { words: /os error (?:28|122)\b/, clause: "does not fit on the disk, which is full" },
  {
    words: /os error (?:1|13|30)\b/,
    clause: "cannot be read or written: the system does not permit it",
  },
];

function systemClauseOf(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof FossilError) return null;
  return SYSTEM_CLAUSES.find(({ words }) => words.test(error.message))?.clause ?? null;
}

/** Whether SQLite could not write the file, or create or remove its files beside it. */
export function isWriteRefused(error: unknown): boolean {
  const refusal = refusalOf(error);
  return refusal !== undefined && [READ_ONLY, CANNOT_OPEN, INPUT_OUTPUT].includes(refusal);
}

/** Whether the system refused a file; its message names the file. */
export function isFromSystem(error: unknown): error is Error {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied ||
    (error instanceof Error && /os error/.test(error.message));
}
