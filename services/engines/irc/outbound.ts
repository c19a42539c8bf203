/** Outgoing messages, serialised once for each form that clients need. */
import { Cap } from "./protocol/capabilities.ts";
import { formatParams, formatTags, isMiddle } from "./protocol/message.ts";
import { looksLikeChannel } from "./protocol/names.ts";
import { encodedLength, isAsciiLine, oneLine, splitText, truncate } from "./protocol/text.ts";
import { Wire } from "./wire.ts";

/** Longest line without message tags, without its CR LF (RFC 1459). */
const CLASSIC_TEXT_BYTES = 510;

/** One line of a multiline message (IRCv3 multiline). */
export interface MessageLine {
  readonly text: string;
  /** Whether it continues the line before it instead of starting a new one. */
  readonly concat: boolean;
}

/** The content of a message: a text, or several lines. */
export type MessageText = string | readonly MessageLine[];

/** The batch type of multiline messages. */
export const MULTILINE_BATCH = "draft/multiline";

/** The tag of a line that continues the one before it. */
export const CONCAT_TAG = "draft/multiline-concat";

/** The tags that the server adds, and those of a client that it passes on. */
export interface OutboundTags {
  /** For clients with `server-time`; ISO 8601 with milliseconds. */
  time: string;
  /** The same in Unix milliseconds, where it is known: reading the text would cost more. */
  milliseconds?: number;
  /** For clients with `message-tags`. */
  msgid?: string | undefined;
  /** For clients with `account-tag`: the account of the sender. */
  account?: string | null;
  /** The connection of a sender without an account; for the server alone. */
  guest?: string | undefined;
  /**
   * For clients with `draft/relaymsg`: the nick that relayed the message. Its account is not shown
   * as the sender's.
   */
  relayer?: string | undefined;
  /** For clients with `message-tags`: the sender is a bot. */
  bot?: boolean;
  /** For clients with `message-tags`: client-only tags, with their `+`. */
  client?: readonly (readonly [string, string])[] | undefined;
}

const REPLY_TAGS: ReadonlySet<string> = new Set(["+draft/reply", "+reply"]);

/** The id of the message that a message answers; null if it answers none. */
export function repliedTo({ client }: OutboundTags): string | null {
  return client?.find(([name]) => REPLY_TAGS.has(name))?.[1] || null;
}

/** The time of a message in Unix milliseconds. */
export function timeOf({ time, milliseconds }: OutboundTags): number {
  return milliseconds ?? Date.parse(time);
}

/** Tags that belong to one receiver's request. */
export interface ReplyTags {
  label?: string;
  batch?: string;
}

/** The capabilities that change the form of a message. */
const FORMING = Cap.SERVER_TIME | Cap.MESSAGE_TAGS | Cap.ACCOUNT_TAG;

/** The capabilities that a client needs for multiline messages. */
const TAKING_LINES = Cap.MULTILINE | Cap.BATCH | Cap.MESSAGE_TAGS;

/** The parts of a message. */
interface OutboundOptions {
  readonly head: MessageHead;
  readonly tags: OutboundTags;
  /**
   * The free text that ends the message, always written with a colon. For classic clients, a long
   * PRIVMSG or NOTICE is split into several lines, and any other message is cut. A multiline
   * message has lines in place of a text.
   */
  readonly text?: MessageText | undefined;
}

/**
 * One message from one source to any number of clients.
 *
 * {@linkcode wire} caches each form. A message to a thousand members is serialised and encoded once
 * for each set of capabilities: at most eight times, twelve for a multiline message, sixteen for a
 * relayed one.
 */
export class Outbound {
  readonly tags: OutboundTags;
  readonly #head: MessageHead;
  readonly #lines: readonly MessageLine[] | null;
  readonly #tail: string;
  /** The length of the tail in UTF-8. */
  readonly #tailBytes: number;
  /** The forms that were asked for. */
  #forms: Wire | null = null;

  constructor(options: OutboundOptions) {
    const { head, tags, text } = options;
    this.tags = tags;
    this.#head = text === undefined ? head : head.followed();
    this.#lines = typeof text === "object" ? text : null;
    const tail = typeof text === "string" ? ` :${text}` : "";
    const isAscii = isAsciiLine(tail);
    this.#tail = isAscii ? tail : oneLine(tail);
    this.#tailBytes = isAscii ? tail.length : encodedLength(this.#tail);
  }

  /** `nick!user@host`, or a server's name. */
  get source(): string | null {
    return this.#head.source;
  }

  get command(): string {
    return this.#head.command;
  }

  /** What comes before the free text. */
  get params(): readonly string[] {
    return this.#head.params;
  }

  /** The message in the form for these capabilities. */
  wire(capabilities: number): Wire {
    const { relayer } = this.tags;
    const forming = relayer === undefined ? FORMING : FORMING | Cap.RELAYMSG;
    const form = capabilities & forming |
      (this.#lines !== null && takesLines(capabilities) ? TAKING_LINES : 0);
    for (let wire = this.#forms; wire !== null; wire = wire.next) {
      if (wire.form === form) return wire;
    }
    return this.#forms = this.#serialise(form, {}, this.#forms);
  }

  /** Source, command and parameters as one line, without the free text. */
  get head(): string {
    return this.#head.text;
  }

  /** The free text, or the lines of a multiline message; undefined if it has neither. */
  get text(): MessageText | undefined {
    if (this.#lines !== null) return this.#lines;
    return this.#tail === "" ? undefined : this.#tail.slice(" :".length);
  }

  /** The message under the current name of its channel, which may have been renamed since. */
  inChannel(name: string): Outbound {
    const [target = "", ...params] = this.params;
    if (target === name || !looksLikeChannel(target)) return this;
    const { source, command, tags, text } = this;
    const head = new MessageHead({ source, command, params: [name, ...params] });
    return new Outbound({ head, tags, text });
  }

  /** The message with another text. */
  withText(text: string): Outbound {
    return new Outbound({ head: this.#head, tags: this.tags, text });
  }

  /** Characters of the message and of the client's tags. */
  get length(): number {
    const { client } = this.tags;
    const length = this.head.length + this.#tail.length;
    if (this.#lines === null && client === undefined) return length;
    const texts = this.#lines?.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
    const tags = client?.reduce((sum, [key, value]) => sum + key.length + value.length, 0) ?? 0;
    return length + texts + tags;
  }

  /** Drops the cached forms, for a message that is kept for later. */
  releaseForms(): void {
    this.#forms = null;
  }

  /** The same, with tags for this receiver only. */
  wireFor(capabilities: number, reply: ReplyTags): Wire {
    return this.#serialise(capabilities, reply, null);
  }

  #serialise(form: number, reply: ReplyTags, next: Wire | null): Wire {
    const tags = this.#tagsFor(form, reply);
    const prefix = prefixOf(tags);
    const length = this.#head.bytes + this.#tailBytes;
    if (this.#lines === null && (takesLongLines(form) || length <= CLASSIC_TEXT_BYTES)) {
      const bytes = encodedLength(prefix) + length;
      return new Wire({ form, lines: prefix + this.head + this.#tail, bytes, next });
    }
    const lines = this.#lines === null
      ? this.#pieces(form, prefix, this.#tail)
      : takesLines(form)
      ? this.#batch(this.#lines, prefix, reply)
      : this.#spokenLines(this.#lines, form, tags);
    const bytes = lines.reduce((sum, line) => sum + encodedLength(line), 0);
    return new Wire({ form, lines, bytes, next });
  }

  /** The lines that are not blank, each as a message; the first has the id. */
  #spokenLines(lines: readonly MessageLine[], form: number, tags: readonly Tag[]): string[] {
    const later = tags.filter(([key]) => key !== "msgid" && key !== "label");
    return lines.filter(({ text }) => text !== "").flatMap(({ text }, index) => {
      return this.#pieces(form, prefixOf(index === 0 ? tags : later), oneLine(` :${text}`));
    });
  }

  /** The message with this tail as one line, or as several for a classic client. */
  #pieces(form: number, prefix: string, tail: string): string[] {
    const head = prefix + this.head;
    const room = CLASSIC_TEXT_BYTES - this.#head.bytes;
    // A UTF-16 unit takes at most three bytes.
    if (takesLongLines(form) || tail.length * 3 <= room) return [head + tail];
    if (!this.#isSplittable) return [head + truncate(tail, room)];
    return splitText(tail.slice(" :".length), room - " :".length)
      .map((piece) => `${head} :${piece}`);
  }

  get #isSplittable(): boolean {
    return this.text !== undefined && (this.command === "PRIVMSG" || this.command === "NOTICE");
  }

  /** Several lines as a batch (IRCv3 multiline), within the batch of an answer if there is one. */
  #batch(lines: readonly MessageLine[], prefix: string, { batch }: ReplyTags): string[] {
    const reference = this.tags.msgid ?? "0";
    const type = `BATCH +${reference} ${MULTILINE_BATCH} ${this.params[0]}`;
    const inner = lines.map(({ text, concat }) => {
      const lineTags: Tag[] = [["batch", reference], ...concat ? [[CONCAT_TAG, ""] as const] : []];
      return prefixOf(lineTags) + this.head + oneLine(` :${text}`);
    });
    const end = `${prefixOf(batch === undefined ? [] : [["batch", batch]])}BATCH -${reference}`;
    return [`${prefix}:${this.source} ${type}`, ...inner, end];
  }

  #tagsFor(capabilities: number, reply: ReplyTags): Tag[] {
    const { time, msgid, account, relayer, bot, client } = this.tags;
    const tags: Tag[] = [];
    if (reply.label !== undefined) tags.push(["label", reply.label]);
    if (reply.batch !== undefined) tags.push(["batch", reply.batch]);
    if (capabilities & Cap.SERVER_TIME) tags.push(["time", time]);
    if (relayer !== undefined) {
      if (capabilities & Cap.RELAYMSG) tags.push(["draft/relaymsg", relayer]);
    } else if (capabilities & Cap.ACCOUNT_TAG && account) {
      tags.push(["account", account]);
    }
    if (capabilities & Cap.MESSAGE_TAGS) {
      if (msgid !== undefined) tags.push(["msgid", msgid]);
      if (bot) tags.push(["bot", ""]);
      for (const [key, value] of client ?? []) tags.push([key, value]);
    }
    return tags;
  }
}

type Tag = readonly [key: string, value: string];

function prefixOf(tags: readonly Tag[]): string {
  return tags.length === 0 ? "" : `@${formatTags(tags)} `;
}

function takesLongLines(capabilities: number): boolean {
  return (capabilities & Cap.MESSAGE_TAGS) !== 0;
}

function takesLines(capabilities: number): boolean {
  return (capabilities & TAKING_LINES) === TAKING_LINES;
}

/** The text of a message of several lines, with line feeds between them. */
export function joinLines(lines: readonly MessageLine[]): string {
  let text = "";
  for (const [index, line] of lines.entries()) {
    text += index === 0 || line.concat ? line.text : `\n${line.text}`;
  }
  return text;
}

/** The parts of a {@linkcode MessageHead}. */
interface MessageHeadParts {
  /** `nick!user@host`, or a server's name. */
  readonly source: string | null;
  readonly command: string;
  /** What comes before the free text. */
  readonly params: readonly string[];
}

/** All of a message that comes before its free text, without tags. Messages may share it. */
export class MessageHead implements MessageHeadParts {
  readonly source: string | null;
  readonly command: string;
  readonly params: readonly string[];
  /** Source, command and parameters as a part of a line. */
  readonly text: string;
  /** The length of the text in UTF-8. */
  readonly bytes: number;

  constructor(parts: MessageHeadParts) {
    const { source, command, params } = parts;
    this.source = source;
    this.command = command;
    this.params = params;
    const text = `${source === null ? "" : `:${source} `}${command}${formatParams(params)}`;
    const isAscii = isAsciiLine(text);
    this.text = isAscii ? text : oneLine(text);
    this.bytes = isAscii ? text.length : encodedLength(this.text);
  }

  /**
   * The same with a last parameter that a free text may follow: one that could only end a line
   * becomes `*`, as the others do.
   */
  followed(): MessageHead {
    const last = this.params.at(-1);
    if (last === undefined || isMiddle(last)) return this;
    const { source, command, params } = this;
    return new MessageHead({ source, command, params: [...params.slice(0, -1), "*"] });
  }

  /** Whether it has the same parts. */
  hasParts({ source, command, params }: MessageHeadParts): boolean {
    return this.source === source && this.command === command &&
      this.params.length === params.length &&
      this.params.every((param, index) => param === params[index]);
  }
}
