/**
 * What both kinds of session know of the protocol: the bridge's tags, batches and numerics, and how
 * they mark a message.
 */
import { foldCase } from "../../engines/irc/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { LinkSpeaker } from "./link_events.ts";

/** The marks of a message, as fields of it. */
export const NOTICE = Object.freeze({ isNotice: true as const });
export const BOT = Object.freeze({ isBot: true as const });

/** The tags of messages that the bridge sends for a caller: its nick and account. */
export const SPEAKER_TAG = "+muster/nick";
export const SPEAKER_ACCOUNT_TAG = "+muster/account";

/** The tag of messages that are in no agent's inbox. */
export const QUIET_TAG = "+muster/quiet";

/** Tells other nodes of a message that is in no agent's inbox. */
export const QUIET: readonly [string, string] = [QUIET_TAG, "1"];

/** The bridge's tags without their `+`: nobody else may send them. */
export const BRIDGE_TAGS: readonly string[] = [SPEAKER_TAG, SPEAKER_ACCOUNT_TAG, QUIET_TAG]
  .map((tag) => tag.slice(1));

/** The tags that name the message which a message answers (IRCv3 reply); the first one is sent. */
export const REPLY_TAGS = ["+draft/reply", "+reply"] as const;

/** Whether a tag names the message which a message answers. */
export function isReplyTag(key: string): boolean {
  return REPLY_TAGS.some((tag) => tag === key);
}

/** The answered message, as a field of the answer. */
export function replyField(id: string | undefined): { readonly reply?: string } {
  return id !== undefined && isMessageId(id) ? { reply: id } : {};
}

/** The tags that identify the speaker when a message of ours comes back. */
export function speakerTags({ nick, account, answered }: LinkSpeaker): [string, string][] {
  const tags: [string, string][] = [[SPEAKER_TAG, nick]];
  if (account !== null) tags.push([SPEAKER_ACCOUNT_TAG, account]);
  if (answered !== undefined) tags.push([REPLY_TAGS[0], answered]);
  return tags;
}

/** The numerics of refusals. */
export const REFUSAL = /^[45]\d\d$/;

/** The batch of a requested playback. */
export const PLAYBACK = "chathistory";

/** The batch of an answer with several lines. */
export const LABELLED_ANSWER = "labeled-response";

/**
 * The nick that reports joins and the like in Ergo's playback, for clients that support only
 * messages.
 */
export const EVENT_TELLER = "HistServ";

/** The start of a CTCP message, even without its end. */
export const CTCP = "\x01";

/** The start of an ACTION. */
export const ACTION = `${CTCP}ACTION `;

/** Whether both are the same account; null is none. */
export function isSameAccount(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && foldCase(one) === foldCase(other);
}

/** What tells the lines of one message from those of another. */
interface HeardLine {
  /** The id from the server, if the line has one. */
  readonly id: string | null;
  readonly nick: string;
  readonly channel: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/**
 * The ids of stored lines. The first line of a message has the server's id. The further lines of a
 * multiline message (IRCv3) follow it without an id, and get one derived from it.
 */
export class MessageIds {
  #last: { readonly message: HeardLine; readonly id: string; lines: number } | null = null;

  /** The id of the next received line. */
  of(heard: HeardLine): string {
    return this.given(heard) ?? newUlid(Date.now());
  }

  /** The same; null if the server gave none, so that others who hear the line know none either. */
  given(heard: HeardLine): string | null {
    if (heard.id !== null) {
      this.#last = { message: heard, id: heard.id, lines: 1 };
      return heard.id;
    }
    const last = this.#last;
    const { nick, channel, time } = last?.message ?? {};
    if (last === null || nick !== heard.nick || channel !== heard.channel || time !== heard.time) {
      return null;
    }
    return `${last.id}.${++last.lines}`;
  }
}

const MESSAGE_ID = /^[\x21-\x7e]{1,200}$/;

/**
 * Whether a text can be the id of a message, which is used unchanged in IRC lines, HTTP headers and
 * event streams.
 */
export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text);
}

/** Whether an id is that of a message or of one of its further lines. */
export function isLineOf(message: string, id: string): boolean {
  return id === message || id.startsWith(`${message}.`);
}

/** The id of the whole message, if this may be the id of a further line of one. */
export function messageOfLine(id: string): string {
  return id.replace(/\.\d+$/, "");
}
