import { FossilError } from "../error.ts";

/** Default length of a page. */
const DEFAULT_LIMIT = 25;
/** Longest page; longer ones are cut to it. */
export const MAX_LIMIT = 10_000;

/** A page of a longer list. */
export interface Paging {
  /** At most this many: 25 if absent, at most 10,000. */
  readonly limit?: number;
  /** How many to skip. */
  readonly offset?: number;
}

/** A page with checked numbers. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Checks a page.
 *
 * @throws {FossilError} `invalid` if a number is not a whole number from 0.
 */
export function pageOf({ limit = DEFAULT_LIMIT, offset = 0 }: Paging): Page {
  for (const number of [limit, offset]) {
    if (Number.isSafeInteger(number) && number >= 0) continue;
    throw new FossilError("invalid", `"${number}" is not a page length or start`);
  }
  return { limit: Math.min(limit, MAX_LIMIT), offset };
}
