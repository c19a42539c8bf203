import { FossilError, type FossilErrorCode } from "../error.ts";
import type { JobResponse } from "./protocol.ts";
import { Interrupted } from "./watch.ts";

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

/** What the caller is told of an error. */
export function failureOf(error: unknown): JobResponse {
  if (error instanceof Interrupted) return { kind: "interrupted" };
  const code = codeOf(error);
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  return code === null ? { kind: "broken", message, stack } : { kind: "refused", code, message };
}

/** The code under which an error is known; null for a bug. */
function codeOf(error: unknown): FossilErrorCode | null {
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
