import {
  type Database,
  Duplicate,
  type NewEvent,
  type Statement,
  Unchanged,
} from "../../database/mod.ts";
import { Conflict, Forbidden, NotFound } from "../../errors.ts";
import { newEvent, type Origin } from "../../events/mod.ts";
import type { Account, AccountDirectory } from "../../identity/mod.ts";
import {
  type ChannelStatus,
  foldCase,
  type GrantableStatus,
  type KeptChannel,
} from "../../irc/mod.ts";
import type { Log } from "../../log.ts";
import type { Scheduler } from "../../scheduler.ts";
import { newUlid } from "../../ulid.ts";
import { ChannelDirectory } from "./channel_directory.ts";
import { KeptChannels } from "./kept_channels.ts";

export interface RegisteredChannelsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  /** Encrypts the keys of channels. */
  readonly secret: Uint8Array;
  /** Channels that one account may register. */
  readonly perAccount: number;
  /** Most accounts with a status in one channel. */
  readonly accessEntries: number;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** An account's rights in a channel. */
export type ChannelRight = "founder" | GrantableStatus;

/** A registered channel. */
export interface RegisteredChannel {
  readonly id: string;
  readonly name: string;
  /** The founder's account; null if it has ended. */
  readonly founder: string | null;
  /** Unix milliseconds. */
  readonly registeredAt: number;
}

/** An account with a status in a channel, given on every join. */
export interface AccessEntry {
  readonly account: string;
  readonly status: GrantableStatus;
}

/**
 * The registered channels: their founders, the statuses of accounts, and the topics and modes that
 * the IRC server reports. An account's rights end with the account.
 */
export class RegisteredChannels {
  readonly #options: RegisteredChannelsOptions;
  readonly #kept: KeptChannels;
  readonly #directory: ChannelDirectory;
  /** The last requested change. */
  #last: Promise<void> = Promise.resolve();

  private constructor(options: RegisteredChannelsOptions, directory: ChannelDirectory) {
    this.#options = options;
    this.#directory = directory;
    this.#kept = new KeptChannels({ ...options, directory });
  }

  /** Opens the registry: reads every registered channel from the database. */
  static async open(options: RegisteredChannelsOptions): Promise<RegisteredChannels> {
    return new RegisteredChannels(options, await ChannelDirectory.open(options));
  }

  /** The stored state of a channel; null if it is not registered. */
  find(channel: string): KeptChannel | null {
    return this.isRegistered(channel) ? this.#kept.find(foldCase(channel)) : null;
  }

  /** Stores a change of a channel, and tells whether it is on disk; false for an unregistered one. */
  async changed(channel: KeptChannel): Promise<boolean> {
    return this.isRegistered(channel.name) && await this.#kept.put(channel);
  }

  /** Whether somebody registered the channel. */
  isRegistered(channel: string): boolean {
    return this.#directory.get(foldCase(channel)) !== null;
  }

  /** The channel of this name, or null if it is not registered. */
  get(channel: string): RegisteredChannel | null {
    const found = this.#directory.get(foldCase(channel));
    if (found === null) return null;
    const { id, name, founderId, registeredAt } = found;
    return { id, name, founder: this.#nameOf(founderId), registeredAt };
  }

  /** An account's rights in a channel; null if it has none or the channel is not registered. */
  rightOf(account: string, channel: string): ChannelRight | null {
    const record = this.#directory.get(foldCase(channel));
    if (record === null) return null;
    const found = this.#options.accounts.find(account);
    if (found === null || found.revokedAt !== null) return null;
    return record.founderId === found.id ? "founder" : record.access.get(found.id) ?? null;
  }

  /** The status that an account has when it joins. */
  statusOf(account: string, channel: string): ChannelStatus | null {
    const right = this.rightOf(account, channel);
    return right === "founder" ? "operator" : right;
  }

  /** Every channel in which an account has rights. */
  listOf({ id, revokedAt }: Account): { readonly name: string; readonly right: ChannelRight }[] {
    if (revokedAt !== null) return [];
    const held: { name: string; right: ChannelRight }[] = [];
    for (const { name, founderId, access } of this.#directory.all()) {
      if (founderId === id) held.push({ name, right: "founder" });
      const status = access.get(id);
      if (status !== undefined) held.push({ name, right: status });
    }
    return held.sort((one, other) => compare(one.name, other.name));
  }

  /** The accounts with a status in a channel, except the founder. */
  accessOf({ name }: RegisteredChannel): AccessEntry[] {
    const { access = new Map<string, GrantableStatus>() } = this.#directory.get(foldCase(name)) ??
      {};
    return Array.from(access, ([id, status]) => ({ account: this.#nameOf(id), status }))
      .filter((entry): entry is AccessEntry => entry.account !== null)
      .sort((one, other) => compare(foldCase(one.account), foldCase(other.account)));
  }

  /**
   * Registers a channel as it is now.
   *
   * @throws Conflict if it is registered, or the account has the maximum number
   * @throws Forbidden if channels cannot be registered
   */
  register(channel: KeptChannel, founder: Account, origin: Origin): Promise<void> {
    return this.#inTurn(() => this.#register(channel, founder, origin));
  }

  async #register(channel: KeptChannel, founder: Account, origin: Origin): Promise<void> {
    const { database, scheduler } = this.#options;
    if (this.isRegistered(channel.name)) throw alreadyRegistered(channel.name);
    this.#assertRoom(founder);
    const now = scheduler.now();
    const insertion = this.#directory.insertion({
      id: newUlid(now),
      name: channel.name,
      founderId: founder.id,
      registeredAt: now,
      state: this.#kept.format(channel),
    });
    const event = newEvent("irc.channel_registered", { channel: channel.name }, origin, now);
    try {
      const { accounts } = this.#options;
      await database.commit({
        statements: [accounts.guard(founder), insertion],
        events: [event],
      });
    } catch (error) {
      if (error instanceof Duplicate) throw alreadyRegistered(channel.name);
      throw error instanceof Unchanged ? changedMeanwhile() : error;
    }
  }

  /** Ends the registration of a channel. */
  async drop(channel: RegisteredChannel, origin: Origin): Promise<void> {
    await this.#commit(
      [this.#directory.removal(channel)],
      newEvent("irc.channel_dropped", { channel: channel.name }, origin, this.#now()),
    );
    this.#kept.forget(foldCase(channel.name));
  }

  /**
   * Transfers a channel to another account, which loses its other status there.
   *
   * @throws Conflict if that account has the maximum number
   */
  transfer(channel: RegisteredChannel, founder: Account, origin: Origin): Promise<void> {
    return this.#inTurn(() => this.#transfer(channel, founder, origin));
  }

  async #transfer(channel: RegisteredChannel, founder: Account, origin: Origin): Promise<void> {
    const { accounts } = this.#options;
    this.#assertRoom(founder);
    const data = { channel: channel.name, founder: founder.name };
    await this.#commit(
      [accounts.guard(founder), ...this.#directory.transfer(channel, founder)],
      newEvent("irc.channel_transferred", data, origin, this.#now()),
    );
  }

  /**
   * Returns an account a status in a channel on every join; null removes it.
   *
   * @throws Conflict if the maximum number of accounts have one
   */
  setAccess(
    channel: RegisteredChannel,
    account: Account,
    status: GrantableStatus | null,
    origin: Origin,
  ): Promise<void> {
    return this.#inTurn(() => this.#setAccess(channel, account, status, origin));
  }

  async #setAccess(
    channel: RegisteredChannel,
    account: Account,
    status: GrantableStatus | null,
    origin: Origin,
  ): Promise<void> {
    const { accounts, accessEntries } = this.#options;
    const others = this.accessOf(channel).filter((entry) => entry.account !== account.name);
    if (status !== null && others.length >= accessEntries) {
      throw new Conflict(`${accessEntries} accounts have a status in ${channel.name} already.`);
    }
    const guards = status === null ? [] : [accounts.guard(account)];
    const statements = [...guards, ...this.#directory.granting(channel, account, status)];
    const data = { channel: channel.name, account: account.name, status };
    const event = newEvent("irc.channel_access_changed", data, origin, this.#now());
    await this.#commit(statements, event);
  }

  /** Waits for running writes. */
  close(): Promise<void> {
    return this.#kept.close();
  }

  /** Runs a change after all earlier ones, so that concurrent changes cannot exceed a limit. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(change);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #commit(statements: readonly Statement[], event: NewEvent) {
    try {
      await this.#options.database.commit({ statements, events: [event] });
    } catch (error) {
      throw error instanceof Unchanged ? changedMeanwhile() : error;
    }
  }

  #assertRoom(founder: Account): void {
    const { perAccount } = this.#options;
    if (perAccount === 0) throw new Forbidden("Channels cannot be registered on this server.");
    const own = this.listOf(founder).filter(({ right }) => right === "founder");
    if (own.length >= perAccount) {
      throw new Conflict(`${founder.name} has registered ${own.length} channels, the most it may.`);
    }
  }

  /** The name of an account that exists and is not revoked. */
  #nameOf(id: string | null): string | null {
    const account = id === null ? null : this.#options.accounts.get(id);
    return account === null || account.revokedAt !== null ? null : account.name;
  }

  #now(): number {
    return this.#options.scheduler.now();
  }
}

function alreadyRegistered(channel: string): Conflict {
  return new Conflict(`${channel} is registered already.`);
}

function changedMeanwhile(): NotFound {
  return new NotFound("Somebody else has changed this at the same time, or it is gone.");
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
