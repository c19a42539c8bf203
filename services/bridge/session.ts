import type { DirectConnection, DirectReceiver } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { LinkEvent, LinkSpeaker } from "./link_events.ts";
import { byteLength } from "./text.ts";

/** One connection of the bridge, be it to a network or to the server in this process. */
export interface Session {
  readonly up: boolean;
  /** Our nick on the network. */
  readonly nick: string;
  /** Milliseconds until a line would go out. */
  readonly delay: number;
  /** How many messages the server plays back at once; 0 where it does not. */
  readonly playback: number;
  connect(): void;
  /** Leaves; the server is given a moment to confirm it. */
  leave(reason: string): void;
  /** Closes the connection without waiting for the server. */
  abandon(reason: string): void;
  /** Asks to be let into a channel. */
  join(channel: string): void;
  part(channel: string, reason: string): void;
  /**
   * Whether so many messages can be said at present.
   *
   * @returns milliseconds until the last of them is out
   * @throws Unavailable where too much waits already
   */
  admit(messages: number): number;
  /**
   * Posts to a channel, line by line. The events about the fate of a line carry its label.
   *
   * @param texts each at most {@link room} bytes
   * @param speaker for whom it is said; null for the bridge itself
   */
  say(
    channel: string,
    texts: readonly string[],
    labels: readonly string[],
    speaker: LinkSpeaker | null,
  ): void;
  /**
   * Asks for messages of a channel. The event that brings them carries the label.
   *
   * @param part subcommand, channel and references of CHATHISTORY
   * @param limit at most {@link playback}
   */
  playBack(part: string, limit: number, label: string): void;
  /** Bytes of text that one message to the channel can have, as the server sends it to others. */
  room(channel: string): number;
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

/** A way to the IRC server in this process, on which nothing is written as lines. */
export interface DirectConnect {
  direct(receiver: DirectReceiver): DirectConnection;
}

/** Nicks that are tried where ours is in use: ours with so many underscores. */
export const MAX_UNDERSCORES = 3;

/** How often it is tried again to have our own nick and our account. */
export const UPKEEP_MILLISECONDS = 60_000;

/** Longest line where the server names none (RFC 1459), with CR LF. */
const CLASSIC_LINE_BYTES = 512;

/** `user@host` of ours before the server has told it: as long as one can be. */
const LONGEST_USER_HOST = 32 + 1 + 64;

/**
 * Bytes of text that one message of ours can have.
 *
 * @param lineLength what the server allows; 0 where it does not tell
 * @param userHost ours; empty as long as the server has not told it
 */
export function roomFor(
  target: string,
  { nick, userHost, lineLength }: { nick: string; userHost: string; lineLength: number },
): number {
  const frame = byteLength(`:${nick}!@ PRIVMSG ${target} :\r\n`);
  const source = userHost === "" ? LONGEST_USER_HOST : byteLength(userHost);
  return (lineLength || CLASSIC_LINE_BYTES) - frame - source;
}
