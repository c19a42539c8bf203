import type { ClientEvents } from "./irc_framework.d.ts";
import { CTCP } from "./protocol.ts";

/** What somebody said in a channel, as irc-framework reports it. */
export interface PlainSpeech {
  readonly event: ClientEvents["privmsg"];
  readonly isNotice: boolean;
}

/** `@tags :nick!user@host PRIVMSG #channel :text`, with one space between the parts. */
const PLAIN = /^@([^ \\]+) :([^ !@]+)!([^ !@]*)@([^ !@]*) (PRIVMSG|NOTICE) (#[^ ]*) :([^]+)$/;

/**
 * Reads the most common kind of line itself, because irc-framework takes three times as long for
 * it: plain text in a channel, from a user, with tags. All other lines are left to irc-framework,
 * above all CTCP, lines of batches, tags with escapes, and messages to channel operators only. Callers
 * cannot tell which of the two has read a line.
 */
export class PlainLines {
  /** Called with each such line, in order. */
  onSpeech: ((speech: PlainSpeech) => void) | null = null;

  /** Whether it has taken a line. If not, irc-framework must read it. */
  take(line: string): boolean {
    if (this.onSpeech === null) return false;
    const speech = plainSpeech(line);
    if (speech === null) return false;
    this.onSpeech(speech);
    return true;
  }
}

/** Parses a line; null if it is not of this kind. */
export function plainSpeech(line: string): PlainSpeech | null {
  const [whole, written = "", nick = "", ident = "", hostname = "", command, target = "", text] =
    PLAIN.exec(line) ?? [];
  if (whole === undefined || text === undefined || text.startsWith(CTCP)) return null;
  // irc-framework removes line ends.
  if (/[\r\n]$/.test(text)) return null;
  const tags = tagsOf(written);
  if (tags["batch"] !== undefined) return null;
  const time = Date.parse(tags["time"] ?? "");
  if (!(time > 0)) return null;
  const event = { nick, ident, hostname, target, message: text, tags, time };
  return { event, isNotice: command === "NOTICE" };
}

function tagsOf(written: string): Record<string, string> {
  const tags: Record<string, string> = Object.create(null);
  for (const tag of written.split(";")) {
    const equals = tag.indexOf("=");
    const key = (equals === -1 ? tag : tag.slice(0, equals)).toLowerCase();
    if (key !== "") tags[key] = equals === -1 ? "" : tag.slice(equals + 1);
  }
  return tags;
}
