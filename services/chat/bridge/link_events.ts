import { foldCase } from "../../engines/irc/mod.ts";
import type { ChannelText } from "./types.ts";

/** The events on IRC that the bridge uses. */
export type LinkEvent =
  /** Logged in to the network; in no channel yet. */
  | { readonly kind: "up" }
  /** The connection is lost; the bridge tries to reconnect. */
  | { readonly kind: "down" }
  | {
    readonly kind: "join";
    readonly channel: string;
    readonly nick: string;
    /** Null if there is none or the server does not say. */
    readonly account: string | null;
  }
  | {
    readonly kind: "part";
    readonly channel: string;
    readonly nick: string;
    /** Who removed it from the channel; absent if it left. */
    readonly by?: string;
  }
  | { readonly kind: "quit"; readonly nick: string }
  | { readonly kind: "nick"; readonly from: string; readonly to: string }
  /** All members of a channel, the server's last message about a JOIN. */
  | { readonly kind: "names"; readonly channel: string; readonly nicks: readonly string[] }
  | { readonly kind: "topic"; readonly channel: string; readonly topic: string }
  /** The bridge is invited to a channel. */
  | { readonly kind: "invite"; readonly channel: string }
  | LinkMessage
  | PlaybackPage
  /** A message was redacted. */
  | { readonly kind: "redaction"; readonly channel: string; readonly id: string }
  | LinkRefusal;

/** The server refused something: the command with this label, or else one about this channel. */
export interface LinkRefusal {
  readonly kind: "refusal";
  readonly label: string | null;
  /** The number of the reply, or the code of a FAIL (IRCv3 standard-replies). */
  readonly code: string;
  /** The channel or the nick that it is about. */
  readonly channel: string;
  readonly reason: string;
}

/** A message to a channel. */
export interface LinkMessage {
  readonly kind: "message";
  readonly channel: string;
  readonly nick: string;
  /** The speaker's account; null if there is none or the server does not say. */
  readonly account: string | null;
  /** For whom the bridge spoke; null if it spoke for itself or is not the speaker. */
  readonly speaker: LinkSpeaker | null;
  /** The text to show: an ACTION as `* nick text`. */
  readonly text: string;
  readonly id: string | null;
  /** Unix milliseconds. */
  readonly time: number;
  /** The label of the bridge's message that this echoes. */
  readonly label: string | null;
  /** The id of the message that it answers; absent if it answers none. */
  readonly reply?: string;
  /** How it is known that another node's bridge said it; absent if it did not. */
  readonly peer?: PeerProof;
  /** Whether other nodes read from it for whom our bridge said it; absent if not. */
  readonly isClear?: true;
  /** Whether another node's bridge said it as what addresses nobody; absent if not. */
  readonly isQuiet?: true;
  /** Whether it came as NOTICE, which programs do not answer; absent if not. */
  readonly isNotice?: true;
  /** Whether its speaker is marked as a bot (IRCv3 bot mode); absent if not. */
  readonly isBot?: true;
}

/**
 * How much a line tells of another node's bridge. `whole`: its account is proven, and tags tell for
 * whom it speaks. `account`: only its account is proven. `nick`: it has only the nick of one.
 */
export type PeerProof = "whole" | "account" | "nick";

/** The bridges of other nodes. */
export interface PeerBridges {
  /** Whether a proven account is that of a node's bridge. */
  isAccount(account: string): boolean;
  /** Whether the bridge of another node may have this nick. */
  isNick(nick: string): boolean;
  /** The nick of the leading node's bridge, as configured; null while no node leads. */
  readonly leader: string | null;
  /** The nicks of all of them, as configured. */
  readonly nicks: readonly string[];
}

/** A caller in whose name the bridge speaks. */
export interface LinkSpeaker {
  readonly nick: string;
  /** The caller's proven account; null if there is none. */
  readonly account: string | null;
  /** The id of the message that the caller answers. */
  readonly answered?: string | undefined;
}

/** Requested messages of a channel. */
export interface PlaybackPage {
  readonly kind: "playback";
  /** The label of the request. */
  readonly label: string;
  readonly messages: readonly LinkMessage[];
  /** The number of messages, including those that are not shown. */
  readonly count: number;
  /** The first and the last of these. */
  readonly first: PlaybackMark | null;
  readonly last: PlaybackMark | null;
}

/** A message that the next request can refer to. */
export interface PlaybackMark {
  readonly id: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** The shown parts of a message, beside its id. */
type Shown = Omit<ChannelText, "id">;

/** A message of the bridge, as the caller gave it. */
export interface Sent {
  /** The speaker's name in the log. */
  readonly nick: string;
  /** Without the name in front. */
  readonly text: string;
  /** For whom the bridge speaks; null if it speaks for itself. */
  readonly speaker: LinkSpeaker | null;
  /** Whether it calls nobody by name: it is in no agent's inbox. */
  readonly isQuiet?: boolean;
  /** What goes out before the text; absent for nothing. */
  readonly prefix?: string;
}

/** The text and speaker of a message. The speaker is the caller for whom the bridge speaks. */
export function textOf(heard: LinkMessage): Shown {
  const { nick, account, speaker, text } = heard;
  if (speaker === null) return answering(heard, { nick, account, text });
  const prefix = `[${speaker.nick}] `;
  const plain = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return answering(heard, spokenBy(speaker, plain));
}

/** The same for an echoed message of the bridge. */
export function textOfSent({ nick, text, speaker }: Sent, heard: LinkMessage): Shown {
  const { account } = heard;
  return answering(heard, speaker === null ? { nick, account, text } : spokenBy(speaker, text));
}

/**
 * The same for a message that another node's bridge may have said. Where no tags tell for whom, the
 * name in front of the text does, if the bridge's account is proven.
 */
export function textOfPeer(heard: LinkMessage): Shown {
  const [, nick = null] = heard.peer === "account" ? IN_FRONT.exec(heard.text) ?? [] : [];
  return textOf(nick === null ? heard : { ...heard, speaker: { nick, account: null } });
}

/** A speaker's name in front of a text. */
const IN_FRONT = /^\[([^\]\s]+)\] /;

function answering({ reply }: LinkMessage, shown: Shown): Shown {
  return reply === undefined ? shown : { ...shown, reply };
}

/** A speaker with the account of its nick speaks for itself; otherwise the operator does. */
function spokenBy({ nick, account }: LinkSpeaker, text: string): Shown {
  const isOwn = account !== null && foldCase(account) === foldCase(nick);
  return isOwn ? { nick, account, text } : { nick, account, text, via: "bridge" };
}
