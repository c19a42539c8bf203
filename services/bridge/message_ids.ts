import { ulid } from "ulid";

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
 * The ids under which the lines of messages are kept: the server's; for the further lines of a
 * message that has several (IRCv3 multiline), which come right after the first and have none, one
 * made of it.
 */
export class MessageIds {
  #last: { readonly message: HeardLine; readonly id: string; lines: number } | null = null;

  /** The id of the next line that was heard. */
  of(heard: HeardLine): string {
    if (heard.id !== null) {
      this.#last = { message: heard, id: heard.id, lines: 1 };
      return heard.id;
    }
    const last = this.#last;
    const { nick, channel, time } = last?.message ?? {};
    if (last === null || nick !== heard.nick || channel !== heard.channel || time !== heard.time) {
      return ulid();
    }
    return `${last.id}.${++last.lines}`;
  }
}

const MESSAGE_ID = /^[\x21-\x7e]{1,200}$/;

/**
 * Whether a text can be the id of a message: it goes as it is into a line of IRC, a header of HTTP
 * and an event stream.
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
