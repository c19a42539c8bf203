import { FossilError } from "../error.ts";
import { fromJulianDay } from "../codec/mod.ts";
import type { Repository } from "../repository.ts";

/** Who writes, and when. */
export interface Author {
  readonly user: string;
  /** Unix milliseconds. */
  readonly date: number;
  /** Address the write came from, for the record of received artifacts. */
  readonly ip?: string;
}

/** Runs a write in the author's name. */
export function writeAs<T>(repository: Repository, author: Author, work: () => T): T {
  if (author.user === "") throw new FossilError("invalid", "An artifact needs a user");
  return repository.write({ user: author.user, ip: author.ip ?? null }, work);
}

/**
 * The author's date, or the first one behind `day` (a Julian day) if that is later. What has the
 * date of an older version, or an older one, would not count as newer.
 */
export function dateAfter(author: Author, day: number | undefined | null): number {
  if (day === undefined || day === null) return author.date;
  return Math.max(author.date, fromJulianDay(day) + 1);
}
