import type { Channel } from "./channels/channel.ts";
import type { ClientBatch } from "./multiline.ts";
import { Cap } from "./protocol/capabilities.ts";
import { UserMode } from "./channels/modes.ts";
import type { ObservedActor } from "./options.ts";
import { MessageHead, type Outbound, type ReplyTags } from "./outbound.ts";
import type { ScramExchange } from "./admission/scram.ts";
import type { PendingLogin } from "./admission/pending_logins.ts";
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
