/**
 * Persons and dates. Git has both in one line, `Name <address> seconds zone`; Fossil has a login
 * and a time in UTC. The login of an imported author is the whole `Name <address>`, so that the
 * artifacts alone hold it. A plain login `alice` is exported as `alice <alice>`, and imported as
 * `alice` again.
 */

/** A line of Git, read. */
export interface Signature {
  /** `Name <address>` */
  readonly person: string;
  /** 0 if the line has none. */
  readonly seconds: number;
  /** As `+0200`. */
  readonly zone: string;
  /** Whether `git fast-import` takes the line, with `date-format=raw-permissive`. */
  readonly isTaken: boolean;
  /** Whether the line has a time. */
  readonly isDated: boolean;
}

/** Range of a D card, in seconds: the years 0 to 9999. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;
/** Greatest zone that `git fast-import` takes with its usual format of dates. */
const MAX_ZONE = 1400;
/** A person as `git fast-import` takes it: nothing but one address is in brackets. */
const PERSON = /^(?:[^<>\n\0]* )?<[^<>\n\0]*>$/;
/** Seconds and zone at the end of a line. */
const DATE = / (-?[0-9]{1,19}) ([+-][0-9]{1,9})$/;
/** The same as it begins after the address in broken lines: without a zone, too. */
const LOOSE_DATE = /^ *(-?[0-9]{1,19})(?![0-9])(?: +([+-][0-9]{1,9})(?![0-9]))?/;

/**
 * Reads a line as Git reads it: the name is what stands before the first bracket, the address what
 * stands in it. What is missing is empty; without a date, it is the first second of 1970.
 */
export function parseSignature(line: string): Signature {
  const exact = DATE.exec(line);
  const written = exact === null ? null : line.slice(0, exact.index);
  if (exact !== null && PERSON.test(written!)) {
    const [, seconds, zone] = exact;
    const person = written!.trimStart();
    return { person, seconds: Number(seconds), zone: zone!, isTaken: true, isDated: true };
  }
  const close = line.lastIndexOf(">") + 1;
  const date = close > 0 ? LOOSE_DATE.exec(line.slice(close)) : exact;
  const end = close > 0 ? close : exact?.index ?? line.length;
  return {
    person: repaired(line.slice(0, end)),
    seconds: Number(date?.[1] ?? 0),
    zone: date?.[2] ?? "+0000",
    isTaken: false,
    isDated: date !== null,
  };
}

/** A person that `git fast-import` takes, from whatever stands in its place. */
function repaired(text: string): string {
  const clean = text.replace(/[\n\0]/g, "");
  const open = clean.indexOf("<");
  const name = (open < 0 ? clean : clean.slice(0, open)).replaceAll(">", "").trim();
  const address = open < 0 ? "" : clean.slice(open + 1).split(/[<>]/, 1)[0]!.trim();
  return `${name} <${address}>`.trimStart();
}

/** A line that `git fast-import` takes: the line itself, if possible. */
export function takenLine(line: string): string {
  const { isTaken, person, seconds, zone } = parseSignature(line);
  return isTaken ? line : `${person} ${seconds} ${zone}`;
}

/** Whether `git fast-import` takes a line only with the format `raw-permissive` of dates. */
export function needsPermission(line: string): boolean {
  return Number(parseSignature(line).zone.slice(1)) > MAX_ZONE;
}

/** Whether a D card can hold a time. */
export function isInRange(seconds: number): boolean {
  return seconds >= FIRST_SECOND && seconds <= LAST_SECOND;
}

/** Time of a D card in Unix milliseconds, moved into the range of a D card. */
export function dateOf({ seconds }: Signature): number {
  return Math.min(Math.max(seconds, FIRST_SECOND), LAST_SECOND) * 1000;
}

/** The Fossil user for a person. */
export function userOf(person: string): string {
  const match = /^([^<>]+) <([^<>]+)>$/.exec(person);
  const isLogin = match !== null && match[1] === match[2];
  return isLogin ? match[1]! : person === "<>" ? "anonymous" : person;
}

/** The person for a Fossil user; `info` is the repository's text about the user. */
export function personOf(user: string, info?: string): string {
  if (PERSON.test(user)) return user;
  const stated = /^([^<>\n\0]*)<([^<>\n\0]+)>$/.exec(info?.trim() ?? "");
  if (stated !== null) return `${stated[1]!.trim() || personName(user)} <${stated[2]}>`;
  const name = personName(user);
  return `${name} <${name}>`;
}

function personName(user: string): string {
  return user.replace(/[<>\n\0]/g, "");
}

/** The line of Git for a Fossil user and a time. */
export function signatureLine(person: string, unixMs: number): string {
  return `${person} ${Math.floor(unixMs / 1000)} +0000`;
}
