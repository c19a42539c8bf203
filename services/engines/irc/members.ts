/**
 * Clients and channels, which know each other: a channel its members with their statuses, and a
 * client the channels that it is in.
 */

import type { PendingLogin } from "./admission/pending_logins.ts";
import type { ScramExchange } from "./admission/scram.ts";
import { type ChannelMask, compileChannelMask } from "./channels/mask.ts";
import {
  CHANNEL_MODES,
  ChannelFlag,
  MemberStatus,
  type ModeChange,
  NEW_CHANNEL_FLAGS,
  UserMode,
} from "./channels/modes.ts";
import type { ObservedActor, Topic } from "./options.ts";
import { MessageHead, type MessageLine, type Outbound, type ReplyTags } from "./outbound.ts";
import { Cap } from "./protocol/capabilities.ts";
import { foldCase } from "./protocol/names.ts";
import type { Transport } from "./transport/transport.ts";

/** A running SASL exchange. */
export interface SaslExchange {
  mechanism: string;
  /** Base64 received so far. */
  payload: string;
  /** For SCRAM, once the client has the challenge. */
  scram: ScramExchange | null;
  /** For SCRAM: the check of the proof, which may still be revoked. */
  login: PendingLogin | null;
  /** The account whose password was proven, until the client has verified the server. */
  confirmed: string | null;
}

/** An incomplete multiline message. */
export interface ClientBatch {
  readonly reference: string;
  readonly target: string;
  /** The label of the command that began it; the answer to the whole message carries it. */
  readonly label: string | null;
  /** The tags of the command that began it. */
  readonly tags: ReadonlyMap<string, string>;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  lines: MessageLine[];
  /** Bytes of the text so far. */
  bytes: number;
  /** Whether it has failed and the client knows; the remaining lines are dropped. */
  failed: boolean;
}

/** State of a client before it is registered. */
export interface Registration {
  nick: string | null;
  user: string | null;
  realname: string;
  password: string | null;
  /** Between CAP LS or CAP REQ and CAP END, when registration waits. */
  negotiating: boolean;
}

/** An array, because it is smaller than a set: most clients are in few channels, many in none. */
const NO_CHANNELS: readonly Channel[] = [];

/** Counters since the start of the server. */
export interface Counters {
  linesIn: number;
  linesOut: number;
  /** Clients that a ban disconnected or kept out. */
  banHits: number;
  /** Clients disconnected because they overran their receive queue. */
  floodCuts: number;
  /** Clients disconnected because they did not read what was sent to them. */
  sendQueueCuts: number;
  /** Unregistered connections that were closed to make room for others. */
  displaced: number;
}

/** Counters that have counted nothing. */
export function newCounters(): Counters {
  return {
    linesIn: 0,
    linesOut: 0,
    banHits: 0,
    floodCuts: 0,
    sendQueueCuts: 0,
    displaced: 0,
  };
}

/** A client, for the commands. */
export class Client {
  /** Unique among all connections, even across runs. */
  readonly id = crypto.randomUUID();
  readonly transport: Transport;
  /** Above modes, bans, kicks and throttles. */
  readonly privileged: boolean;
  /** Whether it is a user without a connection, in whose name the embedding program speaks. */
  readonly virtual: boolean = false;
  /** Unix time in milliseconds. */
  readonly connectedAt: number;
  /** Unix time in milliseconds of the last line, except for signs of life such as PONG. */
  lastActiveAt: number;
  /** Unix time in milliseconds of the last bytes that it sent. */
  heardAt: number;
  /** `*` until registration. */
  nick = "*";
  user = "";
  realname = "";
  /** The visible host: the cloak of the address, or one that an operator set. */
  host = "";
  /** The host name derived from the address, which other users see. */
  cloak = "";
  account: string | null = null;
  /** Sum of the bits of {@linkcode Cap}. */
  capabilities = 0;
  /** Version given with `CAP LS`. */
  capVersion = 301;
  /** Sum of the bits of {@linkcode UserMode}. */
  modes = 0;
  /** The name that OPER accepted; unset when the client stops being an operator by it. */
  operatorName: string | null = null;
  away: string | null = null;
  /** Gives messages of programs the form that this user reads; null if it gets them as they are. */
  reading: ((message: Outbound) => Outbound) | null = null;
  sasl: SaslExchange | null = null;
  /** The multiline message that the client has begun but not ended. */
  batch: ClientBatch | null = null;
  /** Null once the client is registered. */
  registration: Registration | null = {
    nick: null,
    user: null,
    realname: "",
    password: null,
    negotiating: false,
  };
  /** Why the client is being closed; null while it is not. */
  quitReason: string | null = null;
  /** In the order of joining. */
  channels: readonly Channel[] = NO_CHANNELS;

  protected readonly counters: Counters;
  /** The last mask, and what it was made of. */
  #mask = { nick: "", user: "", host: "", text: "!@" };
  #head: MessageHead | null = null;
  #endPause: (() => void) | null = null;

  constructor(
    transport: Transport,
    options: { privileged: boolean; now: number; counters: Counters },
  ) {
    this.transport = transport;
    this.counters = options.counters;
    this.privileged = options.privileged;
    this.connectedAt = options.now;
    this.lastActiveAt = options.now;
    this.heardAt = options.now;
  }

  get registered(): boolean {
    return this.registration === null;
  }

  /** nick!user@host, the source of this client's messages. */
  get mask(): string {
    const { nick, user, host } = this;
    const last = this.#mask;
    if (last.nick === nick && last.user === user && last.host === host) return last.text;
    const text = `${nick}!${user}@${host}`;
    this.#mask = { nick, user, host, text };
    return text;
  }

  /** The head of a message from this client: the last one, as long as it is the same. */
  head(command: string, params: readonly string[]): MessageHead {
    const parts = { source: this.mask, command, params };
    if (!this.#head?.hasParts(parts)) this.#head = new MessageHead(parts);
    return this.#head;
  }

  /**
   * The masks that channel lists match: with the visible host and with the cloak. Never with the
   * address, because channel operators could find it out by trying bans.
   */
  masks(): string[] {
    if (this.cloak === this.host) return [this.mask];
    return [this.mask, `${this.nick}!${this.user}@${this.cloak}`];
  }

  /** The client, for observers. */
  get actor(): ObservedActor {
    const { nick, account, transport: { address }, operatorName: operator } = this;
    return operator === null ? { nick, account, address } : { nick, account, address, operator };
  }

  get isOperator(): boolean {
    return (this.modes & UserMode.OPERATOR) !== 0;
  }

  get isInvisible(): boolean {
    return (this.modes & UserMode.INVISIBLE) !== 0;
  }

  hasMode(mode: number): boolean {
    return (this.modes & mode) !== 0;
  }

  hasCapability(capability: number): boolean {
    return (this.capabilities & capability) !== 0;
  }

  /** Resolves after the given milliseconds, or when the client is gone. One pause at a time. */
  async pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#endPause = resolve;
    await promise;
    clearTimeout(timer);
    this.#endPause = null;
  }

  /** Ends a {@linkcode pause} at once. */
  endPause(): void {
    this.#endPause?.();
  }

  /** Sends a message that does not answer a command of this client. */
  send(message: Outbound): void {
    this.counters.linesOut++;
    this.transport.send(this.#shown(message).wire(this.capabilities));
  }

  /** Sends a message with tags for this client only. */
  answer(message: Outbound, tags: ReplyTags): void {
    this.counters.linesOut++;
    this.transport.send(this.#shown(message).wireFor(this.capabilities, tags));
  }

  #shown(message: Outbound): Outbound {
    const { reading } = this;
    return reading === null || this.hasCapability(Cap.ENVELOPES) ? message : reading(message);
  }
}

/** One entry of a list of masks, such as the bans. */
export interface ListEntry {
  mask: string;
  setBy: string;
  /** Unix time in milliseconds. */
  setAt: number;
  readonly test: ChannelMask;
}

/** The topic and modes of a channel at one time. */
export interface ChannelSettings
  extends Readonly<Pick<Channel, "flags" | "key" | "userLimit" | "topic" | "isClosed">> {
  readonly lists: ReadonlyMap<string, readonly ListEntry[]>;
}

/** A channel with its members and modes. It exists while it has members. */
export class Channel {
  /** As its creator wrote it. */
  name: string;
  foldedName: string;
  /** Unix time in milliseconds; null if it has its first name. */
  renamedAt: number | null = null;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  /** Account to which the channel belongs: the first member that had one. */
  founder: string | null = null;
  /** Whether it outlives its members. The accounts then decide each member's status. */
  isKept = false;
  /** Whether it is an unregistered channel that came back with its modes. */
  isRestored = false;
  /** Whether nobody but the program has joined it since it came back. */
  isAwaited = false;
  /** Whether the program decides who may be in it. */
  isClosed = false;
  /** Resolves when the change of topic or modes under way is stored or undone; null if none is. */
  changing: Promise<void> | null = null;
  /** Every member with its statuses, in the order of joining. */
  readonly #members = new Map<Client, number>();
  /** The members that receive anything, in the order of joining. */
  readonly #listeners = new Set<Client>();
  flags = NEW_CHANNEL_FLAGS;
  key: string | null = null;
  userLimit: number | null = null;
  topic: Topic | null = null;
  readonly #lists = new Map<string, ListEntry[]>();
  /** Clients that may join once despite the modes. */
  readonly #invited = new WeakSet<Client>();
  /** Folded accounts that were members before a restart, and may return once. */
  readonly #returning = new Set<string>();

  constructor(name: string, createdAt: number) {
    this.name = name;
    this.foldedName = foldCase(name);
    this.createdAt = createdAt;
  }

  /** Every member with its statuses, in the order of joining. */
  get members(): ReadonlyMap<Client, number> {
    return this.#members;
  }

  /**
   * The members that receive what is said, in the order of joining: they have a connection, and have
   * joined with it. What is sent to a channel goes through these alone, so thousands of users without
   * a connection cost nothing.
   */
  get listeners(): ReadonlySet<Client> {
    return this.#listeners;
  }

  /** Adds a member, or changes its statuses. */
  setMember(client: Client, status: number): void {
    if (!this.#members.has(client)) this.listen(client);
    this.#members.set(client, status);
  }

  /** From now on, a member with a connection receives what is said. */
  listen(client: Client): void {
    if (!client.virtual) this.#listeners.add(client);
  }

  /** Puts a client in the place of a member. It receives nothing until it {@link listen}s. */
  replaceMember(before: Client, after: Client): void {
    this.#members.set(after, this.statusOf(before));
    this.removeMember(before);
  }

  removeMember(client: Client): void {
    this.#members.delete(client);
    this.#listeners.delete(client);
  }

  has(flag: number): boolean {
    return (this.flags & flag) !== 0;
  }

  /** The statuses of a client; 0 if it has none or is no member. */
  statusOf(client: Client): number {
    return this.members.get(client) ?? 0;
  }

  isOperator(client: Client): boolean {
    return (this.statusOf(client) & MemberStatus.OPERATOR) !== 0;
  }

  /** Whether the client may know that the channel exists. */
  isVisibleTo(client: Client): boolean {
    return !this.has(ChannelFlag.SECRET) || client.isOperator || client.privileged ||
      this.members.has(client);
  }

  /** Whether the channel is closed, and the client may not learn from a refusal that it exists. */
  isHiddenFrom(client: Client): boolean {
    return this.isClosed && !this.isVisibleTo(client);
  }

  /** Whether the client could join now, without a key or an invitation. */
  isOpenTo(client: Client): boolean {
    return this.isVisibleTo(client) && this.key === null &&
      (!this.has(ChannelFlag.INVITE_ONLY) || this.isInvited(client)) && !this.isBanned(client);
  }

  /** The entries of a list mode, the oldest first. */
  list(letter: string): readonly ListEntry[] {
    return this.#lists.get(letter) ?? [];
  }

  /** Adds a mask in canonical form to a list. False if the list has it already. */
  addToList(letter: string, mask: string, setBy: string, setAt: number): boolean {
    const entries = this.#lists.get(letter) ?? [];
    const folded = foldCase(mask);
    if (entries.some((entry) => foldCase(entry.mask) === folded)) return false;
    entries.push({ mask, setBy, setAt, test: compileChannelMask(mask) });
    this.#lists.set(letter, entries);
    return true;
  }

  /** Removes a mask from a list. Returns it as it was listed, or null. */
  removeFromList(letter: string, mask: string): string | null {
    const entries = this.#lists.get(letter) ?? [];
    const folded = foldCase(mask);
    const index = entries.findIndex((entry) => foldCase(entry.mask) === folded);
    if (index === -1) return null;
    return entries.splice(index, 1)[0]?.mask ?? null;
  }

  /** Whether the client is banned and not excepted. */
  isBanned(client: Client): boolean {
    return this.#isListed("b", client) && !this.#isListed("e", client);
  }

  /** Whether a client without a status may not speak: it is banned or muted. */
  isSilenced(client: Client): boolean {
    if (this.isBanned(client)) return true;
    return this.#isListed("b", client, true) && !this.#isListed("e", client, true) &&
      !this.#isListed("e", client);
  }

  /** Whether a ban or mute silences a speaker with this mask who is not a client of this server. */
  silencesMask(mask: string): boolean {
    const isListed = (letter: string) =>
      this.list(letter).some(({ test }) => test.matches({ account: null }, [mask]));
    return isListed("b") && !isListed("e");
  }

  /** Whether the client may join an invite-only channel. */
  isInvited(client: Client): boolean {
    return this.#invited.has(client) || this.#isListed("I", client);
  }

  /** Whether this client was invited. */
  holdsInvitation(client: Client): boolean {
    return this.#invited.has(client);
  }

  invite(client: Client): void {
    this.#invited.add(client);
  }

  /** Forgets that a client may join once, because it has joined. */
  forgetInvitation(client: Client): void {
    this.#invited.delete(client);
    if (client.account !== null) this.#returning.delete(foldCase(client.account));
  }

  /** Lets an account that was a member before a restart join once. */
  expect(account: string): void {
    this.#returning.add(foldCase(account));
  }

  /** Ends the rights of a deleted account, because its name may get another owner. */
  forgetAccount(account: string): void {
    this.#returning.delete(foldCase(account));
    if (isSame(account, this.founder)) this.founder = null;
  }

  /** Whether the modes of a restored channel must not keep out a client: its founder, or a member. */
  expects({ account }: Client): boolean {
    if (!this.isRestored || account === null) return false;
    return isSame(account, this.founder) || this.#returning.has(foldCase(account));
  }

  /** The accounts of the members, and those that may return, folded and in no order. */
  accounts(): string[] {
    const found = new Set(this.#returning);
    for (const { account } of this.members.keys()) {
      if (account !== null) found.add(foldCase(account));
    }
    return [...found];
  }

  /** Whether only some may join it. */
  get isConfined(): boolean {
    return this.has(ChannelFlag.INVITE_ONLY) || this.key !== null;
  }

  /** Its topic and modes at present. */
  settings(): ChannelSettings {
    const { flags, key, userLimit, topic, isClosed } = this;
    const lists = Array.from(this.#lists, ([letter, entries]) => [letter, [...entries]] as const);
    return { flags, key, userLimit, topic, isClosed, lists: new Map(lists) };
  }

  /** Gives it former settings; it stays open or closed. */
  restore({ flags, key, userLimit, topic, lists }: ChannelSettings): void {
    Object.assign(this, { flags, key, userLimit, topic });
    this.#lists.clear();
    for (const [letter, entries] of lists) this.#lists.set(letter, [...entries]);
  }

  /** The flags and settings as the parameters of 324. Only members see the key. */
  modeParameters(withKey: boolean): string[] {
    let letters = "+";
    const params: string[] = [];
    for (const mode of CHANNEL_MODES.values()) {
      if (mode.kind === "flag" && this.flags & mode.bit) letters += mode.letter;
    }
    if (this.key !== null) {
      letters += "k";
      params.push(withKey ? this.key : "*");
    }
    if (this.userLimit !== null) {
      letters += "l";
      params.push(String(this.userLimit));
    }
    return [letters, ...params];
  }

  /** Changes a flag. False if that changes nothing. */
  setFlag(bit: number, add: ModeChange["add"]): boolean {
    const flags = add ? this.flags | bit : this.flags & ~bit;
    const changed = flags !== this.flags;
    this.flags = flags;
    return changed;
  }

  /** Whether a mask matches the client: one about everything, or one about speaking. */
  #isListed(letter: string, client: Client, mutes = false): boolean {
    const entries = this.#lists.get(letter);
    if (entries === undefined || entries.length === 0) return false;
    const masks = client.masks();
    return entries.some(({ test }) => test.mutes === mutes && test.matches(client, masks));
  }
}

function isSame(account: string, founder: string | null): boolean {
  return founder !== null && foldCase(founder) === foldCase(account);
}
