/** The bridge's options and results, beside messages. */
import type { Principal } from "../../people/identity/mod.ts";
import type { ChannelStanding } from "../../engines/irc/mod.ts";
import type { Follower, Gap, Logged, MessageSearch } from "../messages/mod.ts";

/** A message of a channel and its speaker. */
export interface ChannelText {
  /** The IRC server's id of the message, if it has one. */
  readonly id: string;
  readonly nick: string;
  /** The speaker's proven account; null if there is none. */
  readonly account: string | null;
  readonly text: string;
  /** `bridge` if the operator sent it under another name; otherwise absent. */
  readonly via?: "bridge";
  /** The id of the message that it answers (IRCv3 reply); absent if it answers none. */
  readonly reply?: string;
}

/** A stored message of a channel. */
export type ChannelMessage = Logged<ChannelText>;

/** Selects messages of a channel by what is said. */
export interface ChannelSearch {
  readonly sought: MessageSearch;
  /** Only messages before this timestamp, or before the message with this id. */
  readonly before?: string | undefined;
  /** Messages to find, at least 1. */
  readonly limit: number;
}

/** What a search has found, newest first. */
export interface FoundMessages {
  readonly messages: readonly ChannelMessage[];
  /** The time before which to search on; null if everything was searched. */
  readonly searchedTo: string | null;
}

/** Another user's message in a channel that the bridge is in. */
export interface HeardMessage {
  readonly id: string;
  readonly channel: string;
  readonly nick: string;
  /** The speaker's account; null if there is none or the network does not say. */
  readonly account: string | null;
  readonly text: string;
  /** Unix milliseconds. */
  readonly time: number;
  /** The id of the message that it answers; absent if it answers none. */
  readonly reply?: string;
}

/** An account on the network, and its password. */
export interface BridgeLogin {
  readonly account: string;
  readonly password: string;
  /** The nick of the service that gets the password if there is no SASL; default `NickServ`. */
  readonly nickServ?: string;
}

/** A reader that follows a channel. */
export interface ChannelFollower extends Follower<ChannelText> {
  /** Called before the first message if the follower may miss some before it. */
  gap?(gap: Gap): void;
}

/** What is kept of posts for those whom they mention. */
export interface Mentions {
  /** How many have arrived. */
  readonly arrived: number;
  /** Resolves when they are on disk, or the disk takes none for now. */
  settled(): Promise<void>;
}

/** A user of the IRC server, who can speak there without the bridge. */
export interface Speaker {
  /** Joins a channel. Returns the reason if the channel refuses. */
  join(channel: string): string | null;
  part(channel: string): void;
  /** Tells whether the channels to rejoin are on disk. */
  settled(): Promise<boolean>;
  /** Bytes of text that one line to a channel or a nick can have. */
  room(target: string): number;
  /**
   * Sends texts to a channel, line by line.
   *
   * @param answered the id of the message that they answer, if any
   * @returns the ids of the messages
   * @throws Conflict if the channel refuses it
   */
  say(channel: string, texts: readonly string[], answered?: string): readonly string[];
  /**
   * Changes the topic of a channel; an empty text removes it. Resolves when the change is stored.
   *
   * @throws Conflict if the channel refuses it
   */
  setTopic(channel: string, text: string): Promise<void>;
}

/** Decides who may speak, and how much. */
export interface Speakers {
  /** The principal as a user of the IRC server; null if the bridge has to speak for it. */
  speaker(principal: Principal): Speaker | null;
  /** @throws Forbidden if the principal is muted, and so may not create a channel */
  requireVoice(principal: Principal): void;
  /** @throws Halted if the nick is a halted agent's: nobody speaks in its name either */
  requireGoing(nick: string): void;
  /**
   * Counts messages against the principal's rate.
   *
   * @throws Forbidden if it is muted, TooMany if it exceeds the rate
   */
  admit(principal: Principal, messages: number): void;
  /** The principal's relation to a channel; null if all channels are open to it. */
  standing(principal: Principal, channel: string): ChannelStanding | null;
  /** Whether only an account keeps a channel alive: nobody else is in it, and it is not muster's. */
  keepsAlone(accountId: string, channel: string): boolean;
  /** Whether this is the nick of an agent. */
  isAgent(nick: string): boolean;
  /**
   * Calls a listener with each channel that may have lost readers.
   *
   * @returns a function that ends the subscription
   */
  onAccessChanged(listener: (channel: string) => void): () => void;
}

/** A post. */
export interface NewPost {
  /** The speaker's name; if absent and the caller is the operator, the bridge's. */
  readonly nick?: string | undefined;
  readonly text: string;
  /** The id of the message that it answers. */
  readonly reply?: string | undefined;
  /** Whether the text says what the speaker does, as `/me` does on IRC. */
  readonly isAction?: boolean | undefined;
}

/** A channel in a list. */
export interface ChannelSummary {
  readonly name: string;
  /** How many users it has. */
  readonly members: number;
  /** Empty if it has none. */
  readonly topic: string;
}

/** A channel in a person's list. */
export interface ChannelOverview extends ChannelSummary {
  /** The newest message that is kept in memory; null if there is none. */
  readonly last: ChannelMessage | null;
  /** How many of those in memory came after what the person has read. */
  readonly unread: number;
}

/** A change of who is in a channel, or of its topic. */
export type ChannelChange =
  | { readonly kind: "joined" | "left"; readonly nick: string }
  | { readonly kind: "topic"; readonly topic: string };

/**
 * Gets the changes of channels that somebody follows. Must not throw.
 *
 * @param source what `Follower.join` got for the channel
 */
export type ChangeListener = (source: object, change: ChannelChange) => void;

/** Something that happened in a channel that the bridge is in, beside messages. */
export interface ChannelActivity {
  /** `quit` comes once for each channel. */
  readonly kind: "join" | "part" | "quit" | "kick" | "nick";
  readonly channel: string;
  readonly nick: string;
  /** The account of a user who joins; null if there is none, or the network does not say. */
  readonly account: string | null;
  /** Who removed the user from the channel; null if nobody did. */
  readonly by: string | null;
  /** The new nick; null if it did not change. */
  readonly to: string | null;
  /** Whether it is the bridge itself: it has entered or left the channel. */
  readonly isBridge: boolean;
}

/** How a message came to a channel's log. */
export interface HeardAs {
  /** Whether the bridge sent it, for itself or for a caller. */
  readonly isOurs: boolean;
  /** Whether it is an announcement of the program, which addresses nobody. */
  readonly isQuiet: boolean;
  readonly isNotice: boolean;
  /** Whether its speaker is marked as a bot. */
  readonly isBot: boolean;
}

/** Hears everything in the bridge's channels, in the order of their logs. Must not throw. */
export interface BridgeEars {
  message(channel: string, message: ChannelMessage, as: HeardAs): void;
  activity(activity: ChannelActivity): void;
}

/** Counters since the start, and the current state. */
export interface BridgeStats {
  readonly channels: number;
  /** Messages added to a log. */
  readonly received: number;
  /** Messages of the bridge that IRC confirmed. */
  readonly posted: number;
  /** How often the connection was lost. */
  readonly disconnects: number;
  /** Readers that wait for a message. */
  readonly waiting: number;
  /** Followers disconnected because they fell behind. */
  readonly cut: number;
}

/** A reader's handle on a {@link Bridge.follow}. */
export interface Following {
  /** Ends it without notifying the follower. */
  close(): void;
  /**
   * Ends it because the reader cannot keep up, and counts that. Does nothing and returns false
   * while the reader receives pages that it asked for.
   */
  cut(): boolean;
  /** Call this when the reader has room for more earlier messages. */
  more(): void;
}

/** Why there are no channels, if the configuration turns the bridge off. */
export const NO_CHANNELS = "There are no channels: bridge.enabled is false in the configuration";
