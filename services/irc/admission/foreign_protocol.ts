import type { Message } from "../protocol/message.ts";

const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20];

/** A line of a request of HTTP: a method, a target and a version (RFC 9112, section 3). */
const REQUEST = /^[^ ]{1,64} [^ ]* HTTP\/\d/i;

/** A line of a header of HTTP or of mail (RFC 9110, section 5; RFC 5322, section 2.2). */
const HEADER = /^[\w-]{1,64}:(?:[ \t]|$)/;

/** What a proxy says to a port that expects none; the client behind it comes next. */
const OF_PROXIES = "PROXY";

/**
 * Finds out that a client speaks another protocol. A web page can make its browser send a request
 * with lines of IRC in it to any port of this machine, and the server would skip what it does not
 * know. So the first line must be a command, and no line before the registration may be of HTTP.
 *
 * @param text the line
 * @param message what it says; null if it is no message
 * @param isFirst whether it is the client's first line
 */
export function isForeignLine(
  text: string,
  message: Message | null,
  { isFirst, isKnown }: { readonly isFirst: boolean; isKnown(command: string): boolean },
): boolean {
  if (REQUEST.test(text) || HEADER.test(text)) return true;
  if (!isFirst) return false;
  return message === null || !(isKnown(message.command) || message.command === OF_PROXIES);
}

/** Whether a client's first bytes begin no text, as in TLS and STUN: there may come no line at all. */
export function isForeignBeginning(chunk: Uint8Array): boolean {
  const [first = SPACE] = chunk;
  return first < SPACE && first !== LF && first !== CR;
}
