/** Parameters and options that several commands share. */
import { InvalidValue, type Option, type Parameter } from "../command_line/mod.ts";

/** Largest number that an option takes. */
const MAX_NUMBER = 999_999_999;

/** The repository file. */
export const FILE: Parameter = { usage: "<file>", completes: "file" };

export const JSON_OPTION: Option = { flags: "--json", summary: "print JSON, as the API does" };

export const CHECKIN_OPTION: Option = {
  flags: "-r, --checkin <name>",
  summary: "a check-in (default: the tip of the main branch)",
};

export const USER_OPTION: Option = {
  flags: "--user <login>",
  summary: "the user of the change (default: $USER, else admin)",
};

export const LIMIT_OPTION: Option = {
  flags: "-n, --limit <count>",
  summary: "most entries to print; 0 for all",
  parse: checkNumber,
  default: 25,
};

export const OFFSET_OPTION: Option = {
  flags: "--offset <count>",
  summary: "entries to skip",
  parse: checkNumber,
};

/** Kinds of events. */
export const EVENT_KINDS = ["checkin", "wiki", "ticket", "technote", "forum", "tag"] as const;

/** Their names in the `fossil` program. */
const PROGRAM_KINDS: Readonly<Record<string, (typeof EVENT_KINDS)[number]>> = {
  ci: "checkin",
  w: "wiki",
  t: "ticket",
  e: "technote",
  f: "forum",
  g: "tag",
};

/** A kind of event, by its name in either program. */
export function checkEventKind(text: string): (typeof EVENT_KINDS)[number] {
  const kind = EVENT_KINDS.find((known) => known === text) ?? PROGRAM_KINDS[text];
  if (kind !== undefined) return kind;
  throw new InvalidValue(`be one of ${EVENT_KINDS.join(", ")}`);
}

/** A whole number. */
export function checkNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidValue(`be a whole number up to ${MAX_NUMBER}`);
}

/** Parses a date of ISO 8601, UTC if it names no zone, to Unix milliseconds. */
export function checkDate(text: string): number {
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes(":");
  const date = Date.parse(hasZone ? text : `${text.replace(" ", "T")}Z`);
  if (Number.isFinite(date)) return date;
  throw new InvalidValue('be a date like "2026-01-02 03:04:05"');
}
