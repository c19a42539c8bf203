import { Invalid, TooLarge } from "../../kernel/errors.ts";
import { type Principal, speakerName } from "../../people/identity/mod.ts";
import { isNick } from "../../engines/irc/mod.ts";
import { parseEnvelope } from "./envelope.ts";
import { ACTION, CTCP, isMessageId, messageOfLine } from "./protocol.ts";
import type { NewPost } from "./types.ts";

/** Minimum room for text in a line, however long the names are. */
const LEAST_ROOM_BYTES = 64;

/** A parsed post. */
export interface Composition {
  /** The speaker's name; null for the bridge itself. */
  readonly speaker: string | null;
  /** The account of the caller; null for the API token, which belongs to nobody. */
  readonly account: string | null;
  readonly lines: readonly string[];
  /** An envelope goes out on one line, without a name in front. */
  readonly isEnvelope: boolean;
  /** Whether the lines say what the speaker does. */
  readonly isAction?: boolean;
  /** Whether it is said by NOTICE, which no program answers. */
  readonly isNotice?: boolean;
  /** The id of the message that it answers. */
  readonly answered?: string | undefined;
}

/**
 * Parses a post.
 *
 * @throws Invalid if the nick, the text or the answered message is not valid, TooLarge, Forbidden if the principal may
 * not use the nick, or the sender's name in an envelope
 */
export function compose(
  { nick, text, reply, isAction = false }: NewPost,
  principal: Principal,
): Composition {
  if (nick !== undefined && !isNick(nick)) {
    throw new Invalid('"nick" must be an IRC nick of 1 to 64 characters');
  }
  const speaker = speakerName(principal, nick ?? null);
  const lines = linesOf(text);
  const envelope = isAction ? null : parseEnvelope(text);
  if (envelope !== null) {
    speakerName(principal, envelope.from);
    if (lines.length > 1) throw new Invalid("An envelope must be one line");
  }
  const account = principal.kind === "operator" ? null : principal.name;
  const composed = { speaker, account, lines, isEnvelope: envelope !== null, isAction };
  if (reply === undefined) return composed;
  if (!isMessageId(reply)) throw new Invalid('"reply" must be the id of a message');
  return { ...composed, answered: messageOfLine(reply) };
}

/**
 * Cuts a post into the IRC messages of its speaker.
 *
 * @param space bytes of text that one message can have
 * @throws TooLarge if an envelope does not fit into one
 */
export function cut(post: Composition, space: number): string[] {
  if (!post.isAction) return pieces(post, space);
  return pieces(post, space - ACTION.length - CTCP.length)
    .map((piece) => `${ACTION}${piece}${CTCP}`);
}

/**
 * The lines of a post as others read them.
 *
 * @param speaker the name of the speaker
 */
export function shownLines({ lines, isAction }: Composition, speaker: string): readonly string[] {
  return isAction ? lines.map((line) => `* ${speaker} ${line}`) : lines;
}

/**
 * Cuts the lines of a post, without what makes them actions.
 *
 * @throws TooLarge if an envelope does not fit into one
 */
export function pieces({ lines, isEnvelope }: Composition, space: number): string[] {
  const room = Math.max(space, LEAST_ROOM_BYTES);
  if (isEnvelope && !lines.every((line) => fitsInto(room, line))) {
    throw new TooLarge(`An envelope must fit in one IRC message, here ${room} bytes`);
  }
  const [only = ""] = lines;
  return lines.length === 1
    ? splitLine(only, room)
    : lines.flatMap((line) => splitLine(line, room));
}

/** Longest text of one post, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 65_536;
/** Most lines of one post. */
const MAX_LINES = 100;

/** The control characters that a post may contain: tab, and IRC formatting. */
const FORMATTING = new Set("\t\x02\x03\x04\x0f\x11\x16\x1d\x1e\x1f");

/** Printable ASCII. */
const PRINTABLE = /^[ -~]*$/;

/** All other white space of Unicode is ordinary text. */
const BLANK = /^[ \t]*$/;

const encoder = new TextEncoder();

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return PRINTABLE.test(text) ? text.length : encoder.encode(text).length;
}

/** Whether a text has at most so many bytes in UTF-8. */
function fitsInto(room: number, text: string): boolean {
  // A UTF-16 unit takes at most three bytes.
  return text.length * 3 <= room || (text.length <= room && byteLength(text) <= room);
}

/**
 * Splits the text of a post into lines, without blank ones.
 *
 * @throws TooLarge if it exceeds 64 KiB or 100 lines
 * @throws Invalid if it is blank, or contains a control character or half a surrogate pair
 */
export function linesOf(text: string): string[] {
  if (!fitsInto(MAX_TEXT_BYTES, text)) {
    throw new TooLarge(`"text" must have at most ${MAX_TEXT_BYTES} bytes`);
  }
  if (PRINTABLE.test(text) && !BLANK.test(text)) return [text];
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  if (lines.length > MAX_LINES) {
    throw new TooLarge(`"text" must have at most ${MAX_LINES} lines`);
  }
  if (!text.isWellFormed()) {
    throw new Invalid('"text" must be well-formed Unicode: it has half of a surrogate pair');
  }
  if (!lines.every(isPlain)) {
    throw new Invalid(
      '"text" must not contain control characters other than tab and IRC formatting',
    );
  }
  const filled = lines.filter((line) => !BLANK.test(line));
  if (filled.length === 0) throw new Invalid('"text" must not be empty');
  return filled;
}

function isPlain(line: string): boolean {
  if (PRINTABLE.test(line)) return true;
  for (const [character] of line.matchAll(/\p{Cc}/gu)) {
    if (!FORMATTING.has(character)) return false;
  }
  return true;
}

/**
 * Cuts a line into pieces of at most `room` bytes of UTF-8: at the last space that fits, which is
 * dropped, or inside a word that is longer than a piece, but never inside a character.
 *
 * @param room at least 4, the longest character
 */
export function splitLine(line: string, room: number): string[] {
  if (fitsInto(room, line)) return [line];
  const pieces: string[] = [];
  const piece = new Uint8Array(room);
  let rest = line;
  for (;;) {
    const { read } = encoder.encodeInto(rest, piece);
    if (read === rest.length) break;
    const space = rest.lastIndexOf(" ", read);
    pieces.push(rest.slice(0, space > 0 ? space : read));
    rest = rest.slice(space > 0 ? space + 1 : read);
  }
  if (rest !== "" || pieces.length === 0) pieces.push(rest);
  return pieces;
}
