import { Invalid, TooLarge } from "../errors.ts";
import { type Principal, speakerName } from "../identity/mod.ts";
import { isNick } from "../irc/mod.ts";
import { parseEnvelope } from "./envelope.ts";
import type { NewPost } from "./options.ts";
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
}

/**
 * Parses a post.
 *
 * @throws Invalid if the nick or the text is not valid, TooLarge, Forbidden if the principal may
 * not use the nick, or the sender's name in an envelope
 */
export function compose({ nick, text }: NewPost, principal: Principal): Composition {
  if (nick !== undefined && !isNick(nick)) {
    throw new Invalid('"nick" must be an IRC nick of 1 to 64 characters');
  }
  const speaker = speakerName(principal, nick ?? null);
  const lines = linesOf(text);
  const envelope = parseEnvelope(text);
  if (envelope !== null) {
    speakerName(principal, envelope.from);
    if (lines.length > 1) throw new Invalid("An envelope must be one line");
  }
  const account = principal.kind === "operator" ? null : principal.name;
  return { speaker, account, lines, isEnvelope: envelope !== null };
}

/**
 * Cuts a post into IRC messages.
 *
 * @param space bytes of text that one message can have
 * @throws TooLarge if an envelope does not fit into one
 */
export function cut({ lines, isEnvelope }: Composition, space: number): string[] {
  const room = Math.max(space, LEAST_ROOM_BYTES);
  if (isEnvelope && !lines.every((line) => fitsInto(room, line))) {
    throw new TooLarge(`An envelope must fit in one IRC message, here ${room} bytes`);
  }
  return lines.flatMap((line) => splitLine(line, room));
}
