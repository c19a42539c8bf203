import { FossilError } from "../error.ts";
import { fromJulianDay } from "../codec/mod.ts";
import type { Repository, WriteChecks } from "../repository.ts";

/** The author and time of a write. */
export interface Author {
  readonly user: string;
  /** Unix milliseconds. */
  readonly date: number;
  /** Address of the author, for the table of received artifacts. */
  readonly ip?: string;
  /** A text by which the write is found again, in the table of received artifacts. */
  readonly mark?: string;
}

/** Runs a write in the author's name; {@link Repository.write} has the parameters. */
export function writeAs<T>(
  repository: Repository,
  author: Author,
  work: () => T,
  checks: WriteChecks = {},
): T {
  if (author.user === "") throw new FossilError("invalid", "An artifact needs a user");
  const { user, ip = null, mark } = author;
  return repository.write({ user, ip, ...(mark === undefined ? {} : { mark }) }, work, checks);
}

/**
 * The author's date, or the first date after `day` (a Julian day) if that is later. A version must
 * be later than its predecessor to count as newer.
 */
export function dateAfter(author: Author, day: number | undefined | null): number {
  if (day === undefined || day === null) return author.date;
  return Math.max(author.date, fromJulianDay(day) + 1);
}
