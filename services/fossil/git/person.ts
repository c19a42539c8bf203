/**
 * Who and when. In Git both are one line, `Name <address> seconds zone`; in Fossil they are a login
 * and a moment in UTC. The login of an imported author is the whole `Name <address>`, so that the
 * artifacts alone tell it; a plain login `alice` becomes `alice <alice>`, and that `alice` again.
 */

/** A line of Git, taken apart. */
export interface Signature {
  /** `Name <address>` */
  readonly person: string;
  readonly seconds: number;
  /** As `+0200`. */
  readonly zone: string;
}

/** Moments that a D card can hold, in seconds: the years 0 to 9999. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

/** Reads a line; null if it has not the form. */
export function parseSignature(line: string): Signature | null {
  const match = /^(.*<[^<>]*>) (-?[0-9]{1,19}) ([+-][0-9]{1,9})$/s.exec(line);
  if (match === null) return null;
  return { person: match[1]!.trimStart(), seconds: Number(match[2]), zone: match[3]! };
}

/** Whether a D card can hold a moment. */
export function isInRange(seconds: number): boolean {
  return seconds >= FIRST_SECOND && seconds <= LAST_SECOND;
}

/** Moment of a D card in Unix milliseconds; one out of range becomes the nearest in range. */
export function dateOf({ seconds }: Signature): number {
  return Math.min(Math.max(seconds, FIRST_SECOND), LAST_SECOND) * 1000;
}

/** The Fossil user that a person is. */
export function userOf(person: string): string {
  const match = /^([^<>]+) <([^<>]+)>$/.exec(person);
  const isLogin = match !== null && match[1] === match[2];
  return isLogin ? match[1]! : person === "<>" ? "anonymous" : person;
}

/** The person that a Fossil user is; `info` is what the repository says about the user. */
export function personOf(user: string, info?: string): string {
  if (/^[^<>\n]*<[^<>\n]*>$/.test(user)) return user;
  const stated = /^\s*([^<>\n]*?)\s*<([^<>\n]+)>\s*$/.exec(info ?? "");
  if (stated !== null) return `${stated[1] === "" ? user : stated[1]} <${stated[2]}>`;
  const name = user.replace(/[<>\n]/g, "");
  return `${name} <${name}>`;
}

/** The line that Git would have for a user of Fossil who wrote at a moment. */
export function signatureLine(person: string, unixMs: number): string {
  return `${person} ${Math.floor(unixMs / 1000)} +0000`;
}
