import {
  type Database,
  type Directory,
  Duplicate,
  type NewEvent,
  type Statement,
  statement,
  Unchanged,
} from "../../../engines/database/mod.ts";
import { Conflict, Forbidden, NotFound } from "../../../kernel/errors.ts";
import { newEvent, type Origin } from "../../../engines/events/mod.ts";
import type { Account, AccountDirectory } from "../../../people/identity/mod.ts";
import {
  type ChannelStatus,
  foldCase,
  type GrantableStatus,
  type KeptChannel,
} from "../../../engines/irc/mod.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Scheduler } from "../../../kernel/scheduler.ts";
import { newUlid } from "../../../kernel/ulid.ts";
import { ChannelStates, LatestWrites } from "./channel_states.ts";

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
type ChannelRight = "founder" | GrantableStatus;

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
interface AccessEntry {
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

interface KeptChannelsOptions {
  readonly database: Pick<Database, "commit">;
  readonly directory: Pick<ChannelDirectory, "get" | "noting">;
  /** Encrypts the keys of channels. */
  readonly secret: Uint8Array;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Stores the topics and modes of registered channels in the database. If a write fails, it is tried
 * again; meanwhile, reads come from memory.
 */
export class KeptChannels {
  readonly #options: KeptChannelsOptions;
  readonly #states: ChannelStates;
  /** By the folded name. */
  readonly #writes: LatestWrites<KeptChannel>;

  constructor(options: KeptChannelsOptions) {
    this.#options = options;
    this.#states = new ChannelStates(options.secret);
    this.#writes = new LatestWrites({
      ...options,
      write: (folded, channel) => this.#update(folded, channel),
      failure: "The topic and modes of an IRC channel could not be stored",
    });
  }

  /** The last state of the channel with this folded name. */
  find(folded: string): KeptChannel | null {
    const pending = this.#writes.pending(folded);
    if (pending !== undefined) return pending;
    const kept = this.#options.directory.get(folded);
    return kept === null ? null : this.#states.parse(kept.name, kept.state);
  }

  /** Stores a channel. Tells whether it is on disk; if not, it is tried again. */
  put(channel: KeptChannel): Promise<boolean> {
    return this.#writes.put(foldCase(channel.name), channel);
  }

  /** Forgets a channel that is no longer kept. */
  forget(folded: string): void {
    this.#writes.forget(folded);
  }

  /** The value of the column `state` for a channel. */
  format(channel: KeptChannel): string {
    return this.#states.format(channel);
  }

  /** Writes everything pending, including what has failed before. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  async #update(folded: string, channel: KeptChannel): Promise<void> {
    const { database, directory } = this.#options;
    await database.commit({ statements: [directory.noting(folded, this.format(channel))] });
  }
}

/** A registered channel as the directory holds it. */
interface ChannelRecord {
  readonly id: string;
  readonly name: string;
  /** The internal id of the founder's account; null if that was removed. */
  readonly founderId: string | null;
  /** Unix milliseconds. */
  readonly registeredAt: number;
  /** Topic, modes and lists as JSON, as stored in the database. */
  readonly state: string;
  /** Statuses by the internal ids of accounts. */
  readonly access: ReadonlyMap<string, GrantableStatus>;
}

interface ChannelDirectoryOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
}

/**
 * Every registered channel, in memory, because IRC needs rights and states at each JOIN and cannot
 * wait. Its statements are the only ones that change registered channels, and they keep it current.
 */
export class ChannelDirectory implements Directory {
  readonly tables = ["irc_channels", "irc_channel_access"] as const;
  readonly #database: Database;
  readonly #byName = new Map<string, ChannelRecord>();

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Reads all registered channels from the database. */
  static async open({ database, accounts }: ChannelDirectoryOptions): Promise<ChannelDirectory> {
    const directory = new ChannelDirectory(database);
    await database.keepCurrent(directory);
    accounts.onChanged((id, account) => {
      if (account === null) directory.#forgetAccount(id);
    });
    return directory;
  }

  async load(): Promise<void> {
    const { tables } = this.#database;
    const channels = await tables.selectFrom("irc_channels").selectAll().execute();
    const access = await tables.selectFrom("irc_channel_access").selectAll().execute();
    const accessOf = Map.groupBy(access, (entry) => entry.channel_id);
    this.#byName.clear();
    for (const { id, name, name_folded, founder_id, registered_at, state } of channels) {
      const entries = accessOf.get(id) ?? [];
      this.#byName.set(name_folded, {
        id,
        name,
        founderId: founder_id,
        registeredAt: registered_at,
        state,
        access: new Map(entries.map(({ account_id, status }) => [account_id, status])),
      });
    }
  }

  /** The channel of this folded name, or null. */
  get(folded: string): ChannelRecord | null {
    return this.#byName.get(folded) ?? null;
  }

  all(): Iterable<ChannelRecord> {
    return this.#byName.values();
  }

  /** The statement that registers a channel; its transaction fails as `Duplicate` if it is there. */
  insertion(channel: Omit<ChannelRecord, "access">): Statement {
    const { id, name, founderId, registeredAt, state } = channel;
    const row = { id, name, founder_id: founderId, registered_at: registeredAt, state };
    const folded = foldCase(name);
    return statement(
      this.#database.tables.insertInto("irc_channels").values({ ...row, name_folded: folded }),
      { committed: () => this.#byName.set(folded, { ...channel, access: new Map() }) },
    );
  }

  /** The statement that removes a channel; it rolls back its transaction if the channel is gone. */
  removal({ id, name }: Pick<ChannelRecord, "id" | "name">): Statement {
    return statement(this.#database.tables.deleteFrom("irc_channels").where("id", "=", id), {
      mustChange: true,
      committed: () => this.#byName.delete(foldCase(name)),
    });
  }

  /**
   * The statements that transfer a channel to another founder, who loses any other status there.
   */
  transfer(channel: Pick<ChannelRecord, "id" | "name">, founder: Account): Statement[] {
    const update = this.#database.tables.updateTable("irc_channels")
      .set({ founder_id: founder.id }).where("id", "=", channel.id);
    const committed = () => this.#change(channel.name, () => ({ founderId: founder.id }));
    return [
      statement(update, { mustChange: true, committed }),
      this.#withdrawal(channel, founder, false),
    ];
  }

  /** The statements that give an account a status in a channel; null removes it. */
  granting(
    channel: Pick<ChannelRecord, "id" | "name">,
    account: Account,
    status: GrantableStatus | null,
  ): Statement[] {
    const withdrawal = this.#withdrawal(channel, account, status === null);
    if (status === null) return [withdrawal];
    const insertion = this.#database.tables.insertInto("irc_channel_access")
      .values({ channel_id: channel.id, account_id: account.id, status });
    const committed = () =>
      this.#change(channel.name, ({ access }) => ({
        access: new Map(access).set(account.id, status),
      }));
    return [withdrawal, statement(insertion, { committed })];
  }

  /** The statement that stores the topic, modes and lists of a channel. */
  noting(folded: string, state: string): Statement {
    const update = this.#database.tables.updateTable("irc_channels").set({ state })
      .where("name_folded", "=", folded);
    return statement(update, { committed: () => this.#change(folded, () => ({ state })) });
  }

  #withdrawal(
    { id, name }: Pick<ChannelRecord, "id" | "name">,
    account: Account,
    mustChange: boolean,
  ): Statement {
    const removal = this.#database.tables.deleteFrom("irc_channel_access")
      .where("channel_id", "=", id).where("account_id", "=", account.id);
    const committed = () =>
      this.#change(name, ({ access }) => ({ access: without(access, account.id) }));
    return statement(removal, { mustChange, committed });
  }

  #change(name: string, change: (channel: ChannelRecord) => Partial<ChannelRecord>): void {
    const folded = foldCase(name);
    const channel = this.#byName.get(folded);
    if (channel !== undefined) this.#byName.set(folded, { ...channel, ...change(channel) });
  }

  /** Its rights ended with the account. */
  #forgetAccount(id: string): void {
    for (const { name, founderId, access } of this.#byName.values()) {
      if (founderId === id) this.#change(name, () => ({ founderId: null }));
      if (access.has(id)) this.#change(name, () => ({ access: without(access, id) }));
    }
  }
}

function without<Value>(map: ReadonlyMap<string, Value>, key: string): Map<string, Value> {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}
