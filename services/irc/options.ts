/** The interfaces that the server needs from the program, and its limits. */

import type { Bans } from "./admission/bans.ts";
import type { HistoryStore } from "./history/store.ts";
import type { ChannelKeeper } from "./channels/keeping.ts";
import type { ReadMarkerStore } from "./history/read_markers.ts";

/** Outcome of a password check. */
export type Verification =
  | { kind: "accepted"; account: string }
  | { kind: "refused" }
  | { kind: "throttled"; retryAfterSeconds: number }
  | { kind: "unavailable" };

/** The error of a new account: in its name or its password. */
export type RegistrationFault = "taken" | "name" | "weak" | "password";

/** Outcome of making an account for oneself. */
export type AccountRegistration =
  | { kind: "registered"; account: string }
  /** `reason`: a sentence for who asked. */
  | { kind: "refused"; fault: RegistrationFault; reason: string }
  | { kind: "throttled"; retryAfterSeconds: number }
  | { kind: "unavailable" };

/** The status of an account in one of its channels. */
export type ChannelStatus = "operator" | "voice" | "none";

/** The data that a client needs for its proof of a password (RFC 5802). */
export interface ScramChallenge {
  salt: Uint8Array;
  /** Rounds of PBKDF2. */
  iterations: number;
}

/** What a client shows in place of its password, and what it was made for. */
export interface ScramProof {
  authMessage: string;
  clientProof: Uint8Array;
}

/** Outcome of the check of a proof. */
export type ScramVerification =
  | { kind: "accepted"; account: string; serverSignature: Uint8Array }
  | Exclude<Verification, { kind: "accepted" }>;

/** The accounts as SCRAM-SHA-256 needs them. */
export interface ScramAccounts {
  /** For a name that nobody has it is invented, and always the same. */
  challenge(name: string): Promise<ScramChallenge>;
  /** Checks a proof. `address` is the client's, for throttling. */
  verify(name: string, proof: ScramProof, address: string): Promise<ScramVerification>;
}

/** The store of accounts; the embedding program implements it. */
export interface Accounts {
  /** Absent if SCRAM-SHA-256 is not offered. */
  readonly scram?: ScramAccounts;
  /** Checks a password. `address` is the client's, for throttling. */
  verify(name: string, password: string, address: string): Promise<Verification>;
  /**
   * Name of the account that alone may use this nick, or null when anyone may. For a reserved nick
   * a name that no account can have: clients inside this process may use it all the same.
   */
  ownerOf(nick: string): string | null;
  /**
   * Status that the server itself gives this account when it joins the channel; `none` if that is
   * decided too, null if the channel is to decide as for anybody.
   */
  channelStatus(account: string, channel: string): ChannelStatus | null;
  /**
   * Whether the channel belongs to the program: nobody becomes its operator by coming first, and it
   * keeps its name. Default no.
   */
  ownsChannel?(channel: string): boolean;
  /** Checks the credentials given with OPER. */
  verifyOperator(name: string, password: string, address: string): Promise<Verification>;
  /**
   * Registers an account for a client. Absent if clients cannot register accounts. `address` is the
   * client's, for throttling.
   */
  register?(name: string, password: string, address: string): Promise<AccountRegistration>;
  /** Why the account may send no messages at present, as a sentence; null if it may. */
  muteReason?(account: string): string | null;
  /**
   * Takes a message from a rate that the account has of its own, beside that of its connection.
   *
   * @returns milliseconds until the message's turn; 0 if it may be sent at once
   */
  messageDelay?(account: string): number;
  /**
   * When the account was made, in Unix milliseconds: what is older was said by another of its name.
   * Absent or null: its name never belonged to another.
   */
  accountSince?(account: string): number | null;
  /** Whether the account acts on what it reads, and so must not take old messages for new ones. */
  actsOnMessages?(account: string): boolean;
}

/** The user that caused an observed event. */
export interface ObservedActor {
  nick: string;
  account: string | null;
  address: string;
  /** The name that OPER accepted; absent if the user is no IRC operator. */
  operator?: string;
}

/** A message that was taken, as told to an observer. */
export interface ObservedMessage {
  /** The `msgid` that its receivers get. */
  id: string;
  /** Unix milliseconds. */
  time: number;
  sender: ObservedActor;
  command: "PRIVMSG" | "NOTICE";
  /** The channel; null if it goes to one user. */
  channel: string | null;
  /** The user that it goes to; null if it goes to a channel. */
  receiver: ObservedActor | null;
  /** The prefix of a channel's members that alone get it (STATUSMSG), such as `@`; else empty. */
  statusPrefix: string;
  /** With line feeds if the message has several lines. */
  text: string;
}

/** A message that was taken back, or away, as told to an observer. */
export interface ObservedRedaction {
  /** The `msgid` of the message. */
  id: string;
  actor: ObservedActor;
  /** The channel; null where it was between two users. */
  channel: string | null;
  /** The nick of who had said it. */
  author: string;
  /** Whether the author did it. */
  own: boolean;
}

/** Told of what happens. Its methods are called while a command runs: they must not wait. */
export interface IrcObserver {
  /** A client with an account is registered, or a registered client logged in. */
  sessionStarted?(session: { account: string; nick: string; address: string }): void;
  /** Such a session is over. */
  sessionEnded?(session: { account: string; nick: string; reason: string }): void;
  /** OPER was accepted. */
  operatorGranted?(event: { actor: ObservedActor; operator: string }): void;
  /** A member was removed from a channel. */
  kicked?(event: { actor: ObservedActor; channel: string; nick: string; reason: string }): void;
  /** An operator ended a user's connection. */
  killed?(event: { actor: ObservedActor; target: ObservedActor; reason: string }): void;
  /** An operator gave a user another host. */
  hostChanged?(event: { actor: ObservedActor; target: ObservedActor; host: string }): void;
  /** A channel got another name. */
  channelRenamed?(event: { actor: ObservedActor; channel: string; to: string }): void;
  /** Modes of a channel changed; `changes` as in the MODE message, such as `+o nick`; a key is `*`. */
  modeChanged?(event: { actor: ObservedActor; channel: string; changes: string }): void;
  /** The modes of a channel changed, or an account left it: others may read it now than before. */
  accessChanged?(event: { channel: string }): void;
  /** Somebody with the right to do so changed the topic of a channel. */
  topicChanged?(event: { actor: ObservedActor; channel: string }): void;
  /** A message was accepted, to be sent to a channel or a user. TAGMSG is none. */
  messageSent?(message: ObservedMessage): void;
  /** A message that was sent before shall not be shown any more. */
  messageRedacted?(redaction: ObservedRedaction): void;
}

/** Log of events that an administrator should know. */
export interface IrcLogger {
  debug(message: string, properties?: Record<string, unknown>): void;
  info(message: string, properties?: Record<string, unknown>): void;
  warn(message: string, properties?: Record<string, unknown>): void;
  error(message: string, properties?: Record<string, unknown>): void;
}

/** A token bucket: `burst` lines at once, then `perSecond`. */
export interface RateLimit {
  perSecond: number;
  burst: number;
}

/** Every limit that can be set. Where null stands, it turns the limit off. */
export interface IrcLimits {
  /** Bytes of a line after its tags, with CR LF. 512 is the classic limit. */
  lineBytes: number;
  /** Bytes that may wait unread for one connection. */
  receiveQueueBytes: number;
  /** Bytes that may wait to be sent to one connection. */
  sendQueueBytes: number | null;
  /** Lines that a client with an account may send. */
  accountRate: RateLimit | null;
  /** Lines that a client without one may send. */
  strangerRate: RateLimit | null;
  connections: number | null;
  /** Connections from one IPv4 address or IPv6 /64; loopback is exempt. */
  connectionsPerAddress: number | null;
  /** Connections that one IPv4 address or IPv6 /64 may open in a minute; loopback is exempt. */
  connectsPerMinute: number | null;
  registrationSeconds: number | null;
  /** Silence after which a client is sent PING; as long again without an answer ends it. */
  pingSeconds: number | null;
  /** Channels that one client may be in. */
  channelsPerClient: number | null;
  /** Entries of one ban list. */
  listEntries: number;
  topicBytes: number;
  awayBytes: number;
  /** Bytes of the text of one message of several lines. */
  multilineBytes: number;
  /** Lines of one message; 0: messages have one. */
  multilineLines: number;
  /** Of the reasons given with KICK, PART and QUIT. */
  reasonBytes: number;
  /** Messages kept of one channel, and of two users; 0 keeps none. */
  historyMessages: number;
  /** Bytes of all that is kept. */
  historyBytes: number;
  /** How many messages of a channel a joining client receives if it cannot ask for history. */
  replayMessages: number;
}

export const DEFAULT_LIMITS: Readonly<IrcLimits> = {
  lineBytes: 8192,
  receiveQueueBytes: 16 * 1024,
  sendQueueBytes: 1024 * 1024,
  accountRate: { perSecond: 50, burst: 400 },
  strangerRate: { perSecond: 5, burst: 20 },
  connections: 10_000,
  connectionsPerAddress: 64,
  connectsPerMinute: 120,
  registrationSeconds: 30,
  pingSeconds: 90,
  channelsPerClient: 500,
  listEntries: 100,
  topicBytes: 1024,
  awayBytes: 400,
  multilineBytes: 8192,
  multilineLines: 100,
  reasonBytes: 400,
  historyMessages: 1000,
  historyBytes: 64 * 1024 * 1024,
  replayMessages: 0,
};

/** The policy for clients that know `sts` (IRCv3 Strict Transport Security). */
export interface StsPolicy {
  /** For which a client that came over TLS keeps to it; 0 ends what it was told before. */
  durationSeconds: number;
  /**
   * The port that clients without TLS are sent to; null for the port where the server itself
   * listens with TLS.
   */
  port: number | null;
}

export interface IrcServerOptions {
  /** Is told when there are no file descriptors for more connections. */
  onExhausted?: () => void;
  /** Source of the server's own messages; a host name without spaces. */
  serverName: string;
  /** Told as `NETWORK`; one word. */
  networkName: string;
  serverDescription: string;
  /** Name and version of the program, one word; told with 002, 004 and VERSION. */
  version?: string;
  /** Message of the day; lines separated by LF. */
  motd?: string;
  accounts: Accounts;
  observer?: IrcObserver;
  /** Absent: a channel lasts as long as somebody is in it. */
  channels?: ChannelKeeper;
  /** Absent: nobody can be banned from the server. */
  bans?: Bans;
  /** `auto`: clients from loopback may come without an account, others may not. */
  requireAccount: "auto" | boolean;
  /**
   * Whether clients can register an account before they are connected; the default is true. Never
   * with a server `password`, because clients with an account need not send it.
   */
  registerBeforeConnect?: boolean;
  /** The `sts` capability; absent if the server does not offer it. */
  sts?: StsPolicy;
  /**
   * Client-only tags, in lower case and without their `+`, that are passed on for privileged clients
   * alone; told as `CLIENTTAGDENY`.
   */
  reservedTags?: readonly string[];
  /** Asked (PASS) of clients that do not log in to an account. */
  password?: string | null;
  limits?: Partial<IrcLimits>;
  /** The store for history beyond memory; if absent, history is only in memory. */
  historyStore?: HistoryStore;
  /** Absent: how far accounts have read is forgotten when the server ends. */
  readMarkers?: ReadMarkerStore;
  /** Unix time in milliseconds. */
  clock?: () => number;
  log?: IrcLogger;
  /** Secret from which users' visible hosts are derived; random per server when absent. */
  cloakKey?: Uint8Array;
}
