/**
 * Persons and dates. Git has both in one line, `Name <address> seconds zone`; Fossil has a login
 * and a time in UTC. The login of an imported author is the whole `Name <address>`, so that the
 * artifacts alone hold it. A plain login `alice` is exported as `alice <alice>`, and imported as
 * `alice` again.
 */

/** A parsed line of Git. */
export interface Signature {
  /** `Name <address>` */
  readonly person: string;
  readonly seconds: number;
  /** As `+0200`. */
  readonly zone: string;
}

/** Range of a D card, in seconds: the years 0 to 9999. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

/** Parses a line; null if it is malformed. */
export function parseSignature(line: string): Signature | null {
  const match = /^(.*<[^<>]*>) (-?[0-9]{1,19}) ([+-][0-9]{1,9})$/s.exec(line);
  if (match === null) return null;
  return { person: match[1]!.trimStart(), seconds: Number(match[2]), zone: match[3]! };
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
  if (/^[^<>\n]*<[^<>\n]*>$/.test(user)) return user;
  const [, stated, address] = /^([^<>\n]*)<([^<>\n]+)>$/.exec(info?.trim() ?? "") ?? [];
  if (stated !== undefined) return `${stated.trim() || user} <${address}>`;
  const name = user.replace(/[<>\n]/g, "");
  return `${name} <${name}>`;
}

/** The line of Git for a Fossil user and a time. */
export function signatureLine(person: string, unixMs: number): string {
  return `${person} ${Math.floor(unixMs / 1000)} +0000`;
}
