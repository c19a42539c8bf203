/** What the bridge takes and gives, beside messages. */

import type { Principal } from "../identity/mod.ts";
import type { ChannelStanding } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Follower, Logged } from "../messages/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import type { ChannelStore, StoredChannel } from "./stored_channels.ts";
import type { DirectConnect } from "./session.ts";
import type { Connect } from "./transport.ts";

/** A message of a channel and its speaker. */
export interface ChannelText {
  /** The IRC server's id of the message, where it gives one. */
  readonly id: string;
  readonly nick: string;
  /** The speaker's proven account; null if there is none. */
  readonly account: string | null;
  readonly text: string;
  /** `bridge` where the operator said it under the name of somebody else; absent elsewhere. */
  readonly via?: "bridge";
}

/** One message of a channel, as it is kept. */
export type ChannelMessage = Logged<ChannelText>;

/** A message of somebody else in a channel that the bridge is in. */
export interface HeardMessage {
  readonly id: string;
  readonly channel: string;
  readonly nick: string;
  /** The speaker's account; null if there is none or the network does not tell. */
  readonly account: string | null;
  readonly text: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** An account on the network, and its password. */
export interface BridgeLogin {
  readonly account: string;
  readonly password: string;
  /** The nick of the service that is told the password where there is no SASL; `NickServ`. */
  readonly nickServ?: string;
}

/** A reader that follows a channel. */
export type ChannelFollower = Follower<ChannelText>;

/** A user of the IRC server who needs no bridge to speak there. */
export interface Speaker {
  /** Joins a channel. Gives the reason where the channel refuses it. */
  join(channel: string): string | null;
  part(channel: string): void;
  /** Resolves when it is noted which channels it comes back to. */
  settled(): Promise<void>;
  /** Bytes of text that one line to a channel or a nick can have. */
  room(target: string): number;
  /**
   * Says something in a channel, line by line.
   *
   * @returns the ids of the messages
   * @throws Conflict where the channel refuses it
   */
  say(channel: string, texts: readonly string[]): readonly string[];
}

/** Decides who may speak, and how much. */
export interface Speakers {
  /** The principal as a user of the IRC server; null where the bridge has to speak for it. */
  speaker(principal: Principal): Speaker | null;
  /** @throws Forbidden where the principal may say nothing, and so may name no new channel */
  requireVoice(principal: Principal): void;
  /**
   * Takes messages from the principal's rate.
   *
   * @throws Forbidden where it may say nothing, TooMany where it says too much
   */
  admit(principal: Principal, messages: number): void;
  /** How the principal stands to a channel; null where all channels are open to it. */
  standing(principal: Principal, channel: string): ChannelStanding | null;
  /** Whether an agent keeps a channel alive alone: nobody else is in it, and it is not muster's. */
  keepsAlone(agentId: string, channel: string): boolean;
  /** Whether this is the nick of an agent. */
  isAgent(nick: string): boolean;
  /**
   * Calls back with a channel that somebody may not be able to read any more.
   *
   * @returns a function that ends the subscription
   */
  onAccessChanged(listener: (channel: string) => void): () => void;
}

/** A rate of lines, as the operators of a network allow one. */
export interface Pace {
  /** Above 0. */
  readonly perSecond: number;
  /** How many may go out at once after a silence, at least 1. */
  readonly burst: number;
}

export interface BridgeOptions {
  readonly nick: string;
  /** Channels that the bridge joins at the start and keeps; with or without `#`. */
  readonly channels: readonly string[];
  /** Messages kept per channel. */
  readonly bufferSize: number;
  readonly maxChannels: number;
  /** Channels that one agent may keep alive alone. */
  readonly maxChannelsPerAgent: number;
  /** Where its channels are noted; absent: nowhere. */
  readonly store?: ChannelStore;
  /** The channels that the store holds, to come back to. */
  readonly restored?: readonly StoredChannel[];
  /** Whether anybody is in a channel; absent where only the bridge's own channels are known. */
  readonly hasChannel?: (channel: string) => boolean;
  /** How long presence over HTTP lasts at present. */
  readonly webUserTtlMilliseconds: () => number;
  /** Opens a connection to an IRC server: by lines, or direct to the one in this process. */
  readonly connect: Connect | DirectConnect;
  /** For PASS, where the server asks for one. */
  readonly serverPassword?: string | null;
  /**
   * Asked before each connection: the account that the bridge logs in to, null for none. Where it
   * rejects, that counts as a failed attempt.
   */
  readonly login?: () => Promise<BridgeLogin | null>;
  /** How fast lines go out; as fast as they come where it is absent or null. */
  readonly pace?: Pace | null;
  /** Told each time that the bridge is up. Must not throw. */
  readonly onUp?: () => void;
  /** Told of each message of somebody else. Must not throw. */
  readonly onHeard?: (message: HeardMessage) => void;
  /** Told the server's id of each message that was redacted. Must not throw. */
  readonly onRedacted?: (id: string) => void;
  readonly log: Log;
  /** Where it is absent, the bridge speaks for everybody, as much as they like. */
  readonly speakers?: Speakers;
  /** Told of each message that the bridge said, under the name that it was said for. Must not throw. */
  readonly onPosted?: (channel: string, message: ChannelMessage) => void;
  readonly scheduler?: Scheduler;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/** What is to be posted. */
export interface NewPost {
  /** Under whose name; the bridge's where it is absent and the caller is the operator. */
  readonly nick?: string | undefined;
  readonly text: string;
}

/** A channel as a list shows it. */
export interface ChannelSummary {
  readonly name: string;
  /** How many users it has. */
  readonly members: number;
  /** Empty where it has none. */
  readonly topic: string;
}

/** Figures since the start, and how things are at present. */
export interface BridgeStats {
  readonly channels: number;
  /** Messages that were taken into a log. */
  readonly received: number;
  /** Messages that IRC confirmed to have taken from us. */
  readonly posted: number;
  /** How often the connection was lost. */
  readonly disconnects: number;
  /** Readers that wait for a message. */
  readonly waiting: number;
  /** Followers that were cut because they fell behind. */
  readonly cut: number;
}

/** The end of a {@link Bridge.follow} that its reader holds. */
export interface Following {
  /** Ends it; the follower is not told. */
  close(): void;
  /**
   * Ends it because the reader cannot keep up, which is counted. False, and nothing happens, while
   * the reader is given what it asks for.
   */
  cut(): boolean;
  /** The reader has room for more of what was said before. */
  more(): void;
}
