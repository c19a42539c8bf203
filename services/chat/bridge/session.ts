import type { DirectConnection, DirectReceiver } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { LinkEvent, LinkSpeaker } from "./link_events.ts";
import { byteLength } from "./composition.ts";

/** One connection of the bridge, to a network or to the server in this process. */
export interface Session {
  readonly up: boolean;
  /** Our nick on the network. */
  readonly nick: string;
  /** Milliseconds until a new line would be sent. */
  readonly delay: number;
  /** How many messages the server plays back in one answer; 0 if it has no playback. */
  readonly playback: number;
  connect(): void;
  /** Leaves, and gives the server a moment to confirm it. */
  leave(reason: string): void;
  /** Closes the connection without waiting for the server. */
  abandon(reason: string): void;
  /** Sends JOIN for a channel. */
  join(channel: string): void;
  part(channel: string, reason: string): void;
  /**
   * Checks whether this many messages can be sent now.
   *
   * @returns milliseconds until the last of them is sent
   * @throws Unavailable if too many lines are waiting
   */
  admit(messages: number): number;
  /**
   * Posts to a channel, line by line. Events about a line carry its label.
   *
   * @param texts each at most {@link room} bytes
   */
  say(
    channel: string,
    texts: readonly string[],
    labels: readonly string[],
    delivery: Delivery,
  ): void;
  /**
   * Requests messages of a channel. The event with the answer carries the label.
   *
   * @param part subcommand, channel and references of CHATHISTORY
   * @param limit at most {@link playback}
   */
  playBack(part: string, limit: number, label: string): void;
  /** Bytes of text that one message to the channel can have, as the server sends it to others. */
  room(channel: string): number;
}

/** How the bridge says something. */
export interface Delivery {
  /** For whom it speaks; null for itself. */
  readonly speaker: LinkSpeaker | null;
  /** Whether it is a NOTICE, which no program answers (RFC 2812, 3.3.2). */
  readonly isNotice?: boolean | undefined;
  /** Whether it is in no agent's inbox, whomever it names. */
  readonly isQuiet?: boolean | undefined;
  /**
   * The id that the only line gets; a new one, if absent. Only the server in this process takes one.
   */
  readonly id?: string | undefined;
  /**
   * Whether the line with a label may be sent; absent if all may. Ask right before it is sent: lines
   * wait for their turn, and a credential may end meanwhile.
   */
  readonly mayGo?: ((label: string) => boolean) | undefined;
}

/** What every session of the bridge needs. */
export interface SessionOptions {
  /** The nick that it asks for first. */
  readonly nick: string;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Called once, when the server has registered us. */
  readonly onUp: () => void;
  /** Called once, when the connection is over, with the reason. */
  readonly onClosed: (reason: string) => void;
  /** Called in the order of the server's messages. */
  readonly onEvent: (event: LinkEvent) => void;
}

/** A connection to the IRC server in this process that carries values instead of lines. */
export interface DirectConnect {
  direct(receiver: DirectReceiver): DirectConnection;
}

/** Alternative nicks if ours is in use: ours with up to this many underscores. */
export const MAX_UNDERSCORES = 3;

/** How often the bridge tries to regain its nick and its login. */
export const UPKEEP_MILLISECONDS = 60_000;

/** Longest line with CR LF, unless the server announces another length (RFC 1459). */
const CLASSIC_LINE_BYTES = 512;

/** The longest possible `user@host`, used until the server has sent ours. */
const LONGEST_USER_HOST = 32 + 1 + 64;

/**
 * Bytes of text that one message of ours can have.
 *
 * @param lineLength the server's limit; 0 if unknown
 * @param userHost ours; empty if unknown
 */
export function bytesLeftFor(
  target: string,
  { nick, userHost, lineLength }: { nick: string; userHost: string; lineLength: number },
): number {
  const frame = byteLength(`:${nick}!@ PRIVMSG ${target} :`) + "\r\n".length;
  const source = userHost === "" ? LONGEST_USER_HOST : byteLength(userHost);
  return (lineLength || CLASSIC_LINE_BYTES) - frame - source;
}
