/** Options that several commands have. */
import { InvalidArgumentError, Option } from "commander";

/** Longest page that the engine gives. */
const MAX_PAGE = 10_000;

export function jsonOption(): Option {
  return new Option("--json", "print JSON, as the API gives it");
}

export function checkinOption(): Option {
  return new Option("--checkin <name>", "a check-in (default: the tip of trunk)");
}

export function userOption(): Option {
  return new Option("--user <login>", "who does it (default: $USER, else admin)");
}

export function limitOption(): Option {
  return new Option("-n, --limit <count>", "how many at most")
    .argParser(checkNumber).default(25);
}

export function offsetOption(): Option {
  return new Option("--offset <count>", "how many to pass over").argParser(checkNumber);
}

/** A whole number up to the length of the longest page. */
export function checkNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PAGE) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number up to ${MAX_PAGE}.`);
}

/** A date that ISO 8601 allows, UTC where it names no zone; gives Unix milliseconds. */
export function checkDate(text: string): number {
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes(":");
  const date = Date.parse(hasZone ? text : `${text.replace(" ", "T")}Z`);
  if (Number.isFinite(date)) return date;
  throw new InvalidArgumentError('It must be a date like "2026-01-02 03:04:05".');
}

/** Takes an option that can be given several times. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
