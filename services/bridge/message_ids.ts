import { newUlid } from "../ulid.ts";

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
