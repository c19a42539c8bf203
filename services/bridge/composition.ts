import { Invalid, TooLarge } from "../errors.ts";
import { type Principal, speakerName } from "../identity/mod.ts";
import { isNick } from "../irc/mod.ts";
import { parseEnvelope } from "./envelope.ts";
import { isMessageId, messageOfLine } from "./message_ids.ts";
import type { NewPost } from "./options.ts";
import { ACTION, CTCP } from "./protocol.ts";
import { fitsInto, linesOf, splitLine } from "./text.ts";

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
