import type { Channel } from "./channels/channel.ts";
import type { ClientBatch } from "./multiline.ts";
import { UserMode } from "./channels/modes.ts";
import type { ObservedActor } from "./options.ts";
import type { Outbound, ReplyTags } from "./outbound.ts";
import type { ScramExchange } from "./admission/scram.ts";
import type { PendingLogin } from "./admission/pending_logins.ts";
import type { Transport } from "./transport/transport.ts";

/** A SASL exchange that is under way. */
export interface SaslExchange {
  mechanism: string;
  /** Base64 received so far. */
  payload: string;
  /** Of SCRAM, once the client was given a challenge. */
  scram: ScramExchange | null;
  /** Of SCRAM: the check of its proof, which may still be revoked. */
  login: PendingLogin | null;
  /** The account whose password was proven, until the client has checked our side. */
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

/** Most clients are in few channels, and many in none: a list is smaller than a set. */
const NO_CHANNELS: readonly Channel[] = [];

/** What was counted since the start of the server. */
export interface Counters {
  linesIn: number;
  linesOut: number;
  /** Clients that were ended because of a ban, or never let in. */
  banHits: number;
  /** Clients that were cut because they sent more than their receive queue takes. */
  floodCuts: number;
  /** Clients that were cut because they did not read what was sent to them. */
  sendQueueCuts: number;
  /** Connections that were ended before they were registered, to make room for others. */
  displaced: number;
}

/** One client as the commands see it. */
export class Client {
  /** Unlike that of any other connection, of this run or another. */
  readonly id = crypto.randomUUID();
  readonly transport: Transport;
  /** Above modes, bans, kicks and throttles. */
  readonly privileged: boolean;
  /** Whether it is a user without a connection, in whose name the embedding program speaks. */
  readonly virtual: boolean = false;
  /** Unix time in milliseconds. */
  readonly connectedAt: number;
  /** Unix time in milliseconds of the last line that was more than a sign of life. */
  lastActiveAt: number;
  /** `*` until registration. */
  nick = "*";
  user = "";
  realname = "";
  /** What other users see in place of the address: the cloak, or what an operator gave. */
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
  /** Under which name OPER was accepted, as long as the client is an operator by it. */
  operatorName: string | null = null;
  away: string | null = null;
  sasl: SaslExchange | null = null;
  /** The message of several lines that the client has begun and not ended. */
  batch: ClientBatch | null = null;
  /** Null once the client is registered. */
  registration: Registration | null = {
    nick: null,
    user: null,
    realname: "",
    password: null,
    negotiating: false,
  };
  /** Why the client is being closed; null as long as it lives. */
  quitReason: string | null = null;
  /** In the order of joining. */
  channels: readonly Channel[] = NO_CHANNELS;

  protected readonly counters: Counters;
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
  }

  get registered(): boolean {
    return this.registration === null;
  }

  /** nick!user@host, the source of this client's messages. */
  get mask(): string {
    return `${this.nick}!${this.user}@${this.host}`;
  }

  /**
   * The masks that lists of channels match: with the visible host and the cloak. Never with the
   * address, which the operators of a channel could else find out by trying bans.
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

  /** Resolves after so many milliseconds, or when the client is gone. One pause at a time. */
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

  /** Sends a message that is no answer to a command of this client. */
  send(message: Outbound): void {
    this.counters.linesOut++;
    this.transport.send(message.wire(this.capabilities));
  }

  /** Sends a message with tags that are for this client alone. */
  answer(message: Outbound, tags: ReplyTags): void {
    this.counters.linesOut++;
    this.transport.send(message.wireFor(this.capabilities, tags));
  }
}
