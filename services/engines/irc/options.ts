/** The interfaces that the server needs from the program, and its limits. */

import type { Rate } from "../../kernel/token_bucket.ts";
import type { HistoryStore } from "./history/store.ts";

/** Outcome of a password check. */
export type Verification =
  | { kind: "accepted"; account: string }
  | { kind: "refused" }
  | { kind: "throttled"; retryAfterSeconds: number }
  | { kind: "unavailable" };

/** The error of a new account: in its name or its password. */
export type RegistrationFault = "taken" | "name" | "weak" | "password";

/** Outcome of registering an account. */
export type AccountRegistration =
  | { kind: "registered"; account: string }
  /** `reason`: a sentence for the client. */
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

/** A client's proof of its password, and the challenge it answers. */
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
  /** Unknown names get invented data, always the same for one name. */
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
   * The only account that may use this nick; null if anyone may. A reserved nick has a name that no
   * account can have; clients inside this process may still use it.
   */
  ownerOf(nick: string): string | null;
  /**
   * The status that this account gets when it joins the channel. `none` is a decision too; null
   * leaves it to the channel.
   */
  channelStatus(account: string, channel: string): ChannelStatus | null;
  /**
   * Whether the channel belongs to the program: its first member does not become operator, and it
   * cannot be renamed. Default no.
   */
  ownsChannel?(channel: string): boolean;
  /**
   * Whether an account, or a client without one, may be in a channel to which the program admits
   * some accounts alone. Such a channel is invite-only and secret, and no mode, key or invitation
   * opens it. Null for every other channel, for any user. Call `IrcServer.enforceAdmission` when
   * the answer changes.
   */
  admits?(account: string | null, channel: string): boolean | null;
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
   * Counts a message against the account's own rate, which applies beside that of the connection.
   *
   * @returns milliseconds until the message's turn; 0 if it may be sent at once
   */
  messageDelay?(account: string): number;
  /**
   * When the account was created, in Unix milliseconds: older messages are from an earlier owner of
   * the name. Absent or null: the name had no earlier owner.
   */
  accountSince?(account: string): number | null;
  /**
   * The user whose account owns a nick that nobody has at present, if messages to it are kept until
   * it comes, with what its correspondents read (RPL_AWAY). Null: there is no such nick.
   */
  absentUser?(nick: string): AbsentUser | null;
  /**
   * The user without a connection that stays on the server when the client of an account goes, in its
   * channels and with its nick, so that nobody sees the client leave; null if none does.
   */
  staying?(account: string): UserIdentity | null;
  /** What the user of an account does, such as "is working", for WHOIS; null if nobody knows. */
  activity?(account: string): Promise<string | null>;
  /**
   * Whether the account is a person's, who reads the messages of programs as
   * {@linkcode IrcServerOptions.readable} writes them.
   */
  readsText?(account: string): boolean;
  /**
   * Whether the account acts on what it reads. It gets no replay: it might mistake old messages for
   * new ones.
   */
  actsOnMessages?(account: string): boolean;
}

/** Who a user is. */
export interface UserIdentity {
  readonly nick: string;
  readonly account: string;
  /** What WHOIS tells of a user without a connection. */
  readonly realname: string;
  /** Whether a person is behind a user without a connection; by default, a program is. */
  readonly isPerson?: boolean;
  /** Whether it belongs to the embedding program: no mode, ban or kick applies to it. */
  readonly privileged?: boolean;
}

/** A user who is not there, to whom one can write. */
export interface AbsentUser {
  readonly identity: UserIdentity;
  /** What becomes of a message, as a sentence. */
  readonly away: string;
}

/** The user that caused an observed event. */
export interface ObservedActor {
  nick: string;
  account: string | null;
  address: string;
  /** The name that OPER accepted; absent if the user is no IRC operator. */
  operator?: string;
}

/** An accepted message, for observers. */
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
  /** The prefix of the members that receive it (STATUSMSG), such as `@`; empty for all members. */
  statusPrefix: string;
  /** With line feeds if the message has several lines. */
  text: string;
  /** The id of the message that it answers (`+draft/reply`); null if it answers none. */
  answered: string | null;
  /** Whether the sender relayed it for somebody whom nobody has authenticated (RELAYMSG). */
  isRelayed: boolean;
}

/** A redacted message, for observers. */
export interface ObservedRedaction {
  /** The `msgid` of the message. */
  id: string;
  actor: ObservedActor;
  /** The channel; null for a message between two users. */
  channel: string | null;
  /** The nick of its author. */
  author: string;
  /** Whether the author did it. */
  own: boolean;
}

/** Observes events. Its methods are called while a command runs: they must not block. */
export interface IrcObserver {
  /** A client with an account is registered, or a registered client logged in. */
  sessionStarted?(session: { account: string; nick: string; address: string }): void;
  /** The session of a client with an account ended. */
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
  /**
   * Modes of a channel changed. `changes` are the parameters of MODE, such as `+o nick`; a key is
   * `*`.
   */
  modeChanged?(event: { actor: ObservedActor; channel: string; changes: string }): void;
  /** The modes of a channel changed or an account left it: its readers may be others now. */
  accessChanged?(event: { channel: string }): void;
  /** A user changed the topic of a channel. */
  topicChanged?(event: { actor: ObservedActor; channel: string }): void;
  /** A message to a channel or a user was accepted. TAGMSG does not count. */
  messageSent?(message: ObservedMessage): void;
  /** A message was redacted. */
  messageRedacted?(redaction: ObservedRedaction): void;
}

/** A message to a channel that nobody has received yet. */
export interface JudgedMessage {
  readonly sender: ObservedActor;
  /** Whether the sender is operator in the channel or an IRC operator. */
  readonly isOperator: boolean;
  readonly command: "PRIVMSG" | "NOTICE" | "TAGMSG";
  readonly channel: string;
  /** With line feeds if the message has several lines; empty for TAGMSG. */
  readonly text: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** Decides about every message to a channel before anybody receives it. */
export interface SpeechGuard {
  /** Whether it refuses nothing at present, so that it need not be asked. */
  readonly isIdle?: boolean;
  /**
   * Judges a message of a client that does not belong to the program. Called while a command runs:
   * it must not block.
   *
   * @returns the reason to refuse the message, as a sentence for its sender; null to deliver it
   */
  judge(message: JudgedMessage): string | null;
}

/** A ban from the server. */
export interface Ban {
  /** A mask `nick!user@host`, an address, a network, or `account:` followed by a name. */
  readonly mask: string;
  /** The reason that the banned client sees; may be empty. */
  readonly reason: string;
  readonly setBy: string;
  /** Unix milliseconds. */
  readonly setAt: number;
  readonly expiresAt: number | null;
}

/** The properties of a client that bans match. */
export interface BanSubject {
  /**
   * `nick!user@host` three times: with the visible host, the cloak of the address, and the address.
   */
  readonly masks: readonly string[];
  readonly address: string;
  readonly account: string | null;
}

/** A ban that an IRC operator asks for. */
export interface BanWish {
  readonly mask: string;
  readonly reason: string;
  /** Milliseconds; null for one without an end. */
  readonly duration: number | null;
  /** The client that sets the ban, which the ban must not match. */
  readonly spares: BanSubject;
}

/** The store of bans; the embedding program implements it. */
export interface Bans {
  /** The ban on an address, for every user behind it; null if there is none. */
  findByAddress(address: string): Ban | null;
  /** The ban that matches a client; null if there is none. */
  find(subject: BanSubject): Ban | null;
  /** All bans in force, the oldest first. */
  all(): readonly Ban[];
  /** Adds a ban, or replaces the one of the same mask. Returns a sentence if it refuses. */
  add(wish: BanWish, actor: ObservedActor): Promise<string | null>;
  /** Removes a ban. Resolves to an error text if there is none. */
  remove(mask: string, actor: ObservedActor): Promise<string | null>;
}

/** The topic of a channel. */
export interface Topic {
  text: string;
  /** Mask of who set it. */
  setBy: string;
  /** Unix time in milliseconds. */
  setAt: number;
}

/** An entry of a list of masks. */
export interface KeptEntry {
  readonly mask: string;
  readonly setBy: string;
  /** Unix milliseconds. */
  readonly setAt: number;
}

/** The stored state of a channel. */
export interface KeptChannel {
  readonly name: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly topic: Readonly<Topic> | null;
  /** The letters of its flags. */
  readonly flags: string;
  readonly key: string | null;
  readonly userLimit: number | null;
  /** By the letter of the list. */
  readonly lists: Readonly<Record<string, readonly KeptEntry[]>>;
  /** What only an unregistered channel has. */
  readonly unregistered?: UnregisteredState;
}

/** The state of an unregistered channel, whose founder and members no registry names. */
export interface UnregisteredState {
  /** The account to which it belongs; null if it has none. */
  readonly founder: string | null;
  /**
   * Folded accounts that return after a restart whatever the modes: the members of a channel that
   * only some may join.
   */
  readonly members: readonly string[];
}

/**
 * Whether a change of a channel is on disk: it is `refused` if it cannot be written at present, and
 * `full` if nothing more of its founder, or of anybody, is stored.
 */
export type Keeping = "stored" | "refused" | "full";

/** A store of channels; the embedding program implements it. */
export interface ChannelKeeper {
  /** The stored state of a channel; null if there is none. */
  find(channel: string): KeptChannel | null;
  /**
   * Stores a change of a channel. The next read already returns it. The promise resolves when
   * the change is on disk, or is known not to be. It does not reject. What was refused is tried
   * again, until another change takes its place.
   */
  changed(channel: KeptChannel): Promise<Keeping>;
  /**
   * Decides about an unregistered channel whose last member has left. Returns whether its state
   * stays stored, so that it comes back as it was.
   */
  emptied(channel: KeptChannel): boolean;
  /** Moves the stored state of an unregistered channel to its new name. Like {@linkcode changed}. */
  renamed(before: string, channel: KeptChannel): Promise<Keeping>;
}

/** Most markers of one user; the one set longest ago is dropped first. */
export const MARKED_TARGETS = 1000;

/**
 * Stores the markers of accounts. Names of accounts and targets are folded; times are those of
 * messages, in Unix milliseconds. Each account has room for at least {@linkcode MARKED_TARGETS}.
 */
export interface ReadMarkerStore {
  /** The time of the last message that was read; null if that is not known. */
  read(account: string, target: string): number | null;
  /**
   * Moves a marker forward, never back. Resolves when it is stored; rejects if it cannot be stored.
   *
   * @returns the marker's position afterwards
   */
  advance(account: string, target: string, time: number): Promise<number>;
  /** Moves the markers of a channel to its new name. */
  rename(from: string, to: string): void;
  forget(account: string): void;
}

/** Log of events that an administrator should know. */
export interface IrcLogger {
  debug(message: string, properties?: Record<string, unknown>): void;
  info(message: string, properties?: Record<string, unknown>): void;
  warn(message: string, properties?: Record<string, unknown>): void;
  error(message: string, properties?: Record<string, unknown>): void;
}

/** Every limit that can be set. Null turns a limit off, if its type allows it. */
export interface IrcLimits {
  /** Bytes of a line after its tags, with CR LF. 512 is the classic limit. */
  lineBytes: number;
  /** Bytes that may wait unread for one connection. */
  receiveQueueBytes: number;
  /** Bytes that may wait to be sent to one connection. */
  sendQueueBytes: number | null;
  /** Lines that a client with an account may send. */
  accountRate: Rate | null;
  /** Lines that a client without one may send. */
  strangerRate: Rate | null;
  connections: number | null;
  /** Connections from one IPv4 address or IPv6 /64; loopback is exempt. */
  connectionsPerAddress: number | null;
  /** Connections that one IPv4 address or IPv6 /64 may open in a minute; loopback is exempt. */
  connectsPerMinute: number | null;
  registrationSeconds: number | null;
  /**
   * Silence after which the server sends PING. After the same time without an answer, it
   * disconnects the client.
   */
  pingSeconds: number | null;
  /** Channels that one client may be in. */
  channelsPerClient: number | null;
  /** Entries of one ban list. */
  listEntries: number;
  topicBytes: number;
  awayBytes: number;
  /** Bytes of the text of one message of several lines. */
  multilineBytes: number;
  /** Most lines of one message; 0 turns multiline messages off. */
  multilineLines: number;
  /** Longest reason of KICK, PART and QUIT. */
  reasonBytes: number;
  /** Messages kept of one channel, and of two users; 0 keeps none. */
  historyMessages: number;
  /** Bytes of all that is kept. */
  historyBytes: number;
  /** How many messages a joining client receives if it cannot request history. */
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
  /** How long a client that used TLS must keep using it; 0 revokes an earlier policy. */
  durationSeconds: number;
  /**
   * The port that clients without TLS are sent to; null for the port where the server itself
   * listens with TLS.
   */
  port: number | null;
}

export interface IrcServerOptions {
  /** Called when no file descriptors are left for connections. */
  onExhausted?: () => void;
  /** Source of the server's own messages; a host name without spaces. */
  serverName: string;
  /** Announced as `NETWORK`; one word. */
  networkName: string;
  serverDescription: string;
  /** Name and version of the program, one word; shown in 002, 004 and VERSION. */
  version?: string;
  /** Message of the day; lines separated by LF. */
  motd?: string;
  accounts: Accounts;
  /** What a person reads in place of a message for programs; null for any other text. */
  readable?: (text: string) => string | null;
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
   * Client-only tags, in lower case and without their `+`, that are passed on for privileged
   * clients alone; announced as `CLIENTTAGDENY`.
   */
  reservedTags?: readonly string[];
  /** Required (PASS) of clients that do not log in. */
  password?: string | null;
  limits?: Partial<IrcLimits>;
  /** The store for history beyond memory; if absent, history is only in memory. */
  historyStore?: HistoryStore;
  /** Absent: read markers are lost when the server ends. */
  readMarkers?: ReadMarkerStore;
  /** Unix time in milliseconds. */
  clock?: () => number;
  /** Milliseconds of a clock that nobody sets, for the pauses of long answers. */
  monotonicClock?: () => number;
  log?: IrcLogger;
  /** Secret from which users' visible hosts are derived; random per server when absent. */
  cloakKey?: Uint8Array;
}
