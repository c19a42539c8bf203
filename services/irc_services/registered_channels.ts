import { ulid } from "ulid";
import type { StatementSync } from "node:sqlite";
import { type Database, Duplicate, type NewEvent, statement, Unchanged } from "../database/mod.ts";
import { Conflict, Forbidden, NotFound } from "../errors.ts";
import { newEvent, type Origin } from "../events/mod.ts";
import type { Account, AccountDirectory } from "../identity/mod.ts";
import {
  type ChannelKeeper,
  type ChannelStatus,
  foldCase,
  type GrantableStatus,
  type KeptChannel,
} from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { KeptChannels } from "./kept_channels.ts";

export interface RegisteredChannelsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  /** With which the keys of channels are encrypted. */
  readonly secret: Uint8Array;
  /** Channels that one account may register. */
  readonly perAccount: number;
  /** Accounts that may be given a status in one channel. */
  readonly accessEntries: number;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** What an account may do in a channel. */
export type ChannelRight = "founder" | GrantableStatus;

/** A channel that is registered. */
export interface RegisteredChannel {
  readonly id: string;
  readonly name: string;
  /** The founder's account; null where it has ended. */
  readonly founder: string | null;
  /** Unix milliseconds. */
  readonly registeredAt: number;
}

/** Somebody who has a status in a channel whenever it joins. */
export interface AccessEntry {
  readonly account: string;
  readonly status: GrantableStatus;
}

/**
 * The channels that somebody registered: whose they are, who is what in them, and their topics and
 * modes, which the IRC server tells. Everything is read from the database but what is still on the
 * way there. A right ends with the account that has it.
 */
export class RegisteredChannels implements ChannelKeeper {
  readonly #options: RegisteredChannelsOptions;
  readonly #kept: KeptChannels;
  readonly #byName: StatementSync;
  readonly #access: StatementSync;
  readonly #rightOf: StatementSync;
  readonly #rightsOf: StatementSync;
  readonly #names: StatementSync;
  /** Folded names, so that no other channel costs a look into the database. */
  readonly #registered: Set<string>;
  /** The last change that was asked for. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: RegisteredChannelsOptions) {
    this.#options = options;
    const { database } = options;
    this.#kept = new KeptChannels(options);
    this.#names = database.prepare("SELECT name_folded FROM irc_channels");
    this.#registered = new Set(this.#names.all().map((row) => String(row["name_folded"])));
    this.#byName = database.prepare(
      `SELECT irc_channels.id, irc_channels.name, registered_at, accounts.name AS founder
       FROM irc_channels LEFT JOIN accounts
         ON accounts.id = founder_id AND accounts.revoked_at IS NULL
       WHERE irc_channels.name_folded = ?`,
    );
    this.#access = database.prepare(
      `SELECT accounts.name, status FROM irc_channel_access
       JOIN accounts ON accounts.id = account_id AND accounts.revoked_at IS NULL
       WHERE channel_id = ? ORDER BY accounts.name_folded`,
    );
    this.#rightOf = database.prepare(
      `SELECT founder_id = ? AS is_founder, status FROM irc_channels
       LEFT JOIN irc_channel_access ON channel_id = irc_channels.id AND account_id = ?
       WHERE name_folded = ?`,
    );
    this.#rightsOf = database.prepare(
      `SELECT name, 'founder' AS held FROM irc_channels WHERE founder_id = ?
       UNION ALL SELECT name, status FROM irc_channels
         JOIN irc_channel_access ON channel_id = irc_channels.id WHERE account_id = ?
       ORDER BY name`,
    );
  }

  find(channel: string): KeptChannel | null {
    const folded = foldCase(channel);
    return this.#registered.has(folded) ? this.#kept.find(folded) : null;
  }

  async changed(channel: KeptChannel): Promise<void> {
    if (this.#registered.has(foldCase(channel.name))) await this.#kept.put(channel);
  }

  /** Whether somebody registered the channel. */
  isRegistered(channel: string): boolean {
    return this.#registered.has(foldCase(channel));
  }

  /** The channel of this name, or null where it is not registered. */
  get(channel: string): RegisteredChannel | null {
    const folded = foldCase(channel);
    const row = this.#registered.has(folded) ? this.#byName.get(folded) : undefined;
    if (row === undefined) return null;
    return {
      id: String(row["id"]),
      name: String(row["name"]),
      founder: row["founder"] === null ? null : String(row["founder"]),
      registeredAt: Number(row["registered_at"]),
    };
  }

  /** What an account may do in a channel; null where that is nothing, or it is not registered. */
  rightOf(account: string, channel: string): ChannelRight | null {
    const folded = foldCase(channel);
    if (!this.#registered.has(folded)) return null;
    const found = this.#options.accounts.find(account);
    if (found === null || found.revokedAt !== null) return null;
    const row = this.#rightOf.get(found.id, found.id, folded);
    if (row === undefined) return null;
    if (row["is_founder"] === 1) return "founder";
    return row["status"] as GrantableStatus | null;
  }

  /** The status that an account has when it joins. */
  statusOf(account: string, channel: string): ChannelStatus | null {
    const right = this.rightOf(account, channel);
    return right === "founder" ? "operator" : right;
  }

  /** Every channel in which an account may do something. */
  listOf({ id, revokedAt }: Account): { readonly name: string; readonly right: ChannelRight }[] {
    if (revokedAt !== null) return [];
    return this.#rightsOf.all(id, id).map((row) => ({
      name: String(row["name"]),
      right: row["held"] as ChannelRight,
    }));
  }

  /** Who has a status in a channel, the founder aside. */
  accessOf({ id }: RegisteredChannel): AccessEntry[] {
    return this.#access.all(id).map((row) => ({
      account: String(row["name"]),
      status: row["status"] as GrantableStatus,
    }));
  }

  /**
   * Registers a channel as it is now.
   *
   * @throws Conflict where it is registered, or the account has as many as it may
   * @throws Forbidden where nobody may register any
   */
  register(channel: KeptChannel, founder: Account, origin: Origin): Promise<void> {
    return this.#inTurn(() => this.#register(channel, founder, origin));
  }

  async #register(channel: KeptChannel, founder: Account, origin: Origin): Promise<void> {
    const { database, scheduler } = this.#options;
    const folded = foldCase(channel.name);
    if (this.#registered.has(folded)) throw alreadyRegistered(channel.name);
    this.#assertRoom(founder);
    const now = scheduler.now();
    const insertion = database.tables.insertInto("irc_channels").values({
      id: ulid(now),
      name: channel.name,
      name_folded: folded,
      founder_id: founder.id,
      registered_at: now,
      state: this.#kept.format(channel),
    });
    const event = newEvent("irc.channel_registered", { channel: channel.name }, origin, now);
    try {
      const { accounts } = this.#options;
      await database.commit({
        statements: [accounts.guard(founder), statement(insertion)],
        events: [event],
      });
    } catch (error) {
      if (error instanceof Duplicate) throw alreadyRegistered(channel.name);
      throw error instanceof Unchanged ? changedMeanwhile() : error;
    }
    this.#registered.add(folded);
  }

  /** Lets a channel be like any other again. */
  async drop(channel: RegisteredChannel, origin: Origin): Promise<void> {
    const removal = this.#options.database.tables.deleteFrom("irc_channels")
      .where("id", "=", channel.id);
    await this.#commit(
      [statement(removal, { mustChange: true })],
      newEvent("irc.channel_dropped", { channel: channel.name }, origin, this.#now()),
    );
    const folded = foldCase(channel.name);
    this.#registered.delete(folded);
    this.#kept.forget(folded);
  }

  /**
   * Gives a channel to another account, which loses its status of its own there.
   *
   * @throws Conflict where that account has as many as it may
   */
  transfer(channel: RegisteredChannel, founder: Account, origin: Origin): Promise<void> {
    return this.#inTurn(() => this.#transfer(channel, founder, origin));
  }

  async #transfer(channel: RegisteredChannel, founder: Account, origin: Origin): Promise<void> {
    const { accounts, database: { tables } } = this.#options;
    this.#assertRoom(founder);
    const data = { channel: channel.name, founder: founder.name };
    const update = tables.updateTable("irc_channels").set({ founder_id: founder.id })
      .where("id", "=", channel.id);
    const access = tables.deleteFrom("irc_channel_access").where("channel_id", "=", channel.id)
      .where("account_id", "=", founder.id);
    await this.#commit(
      [accounts.guard(founder), statement(update, { mustChange: true }), statement(access)],
      newEvent("irc.channel_transferred", data, origin, this.#now()),
    );
  }

  /**
   * Gives an account a status in a channel whenever it joins, or with null takes it away.
   *
   * @throws Conflict where as many accounts have one as may
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
    const { accounts, accessEntries, database: { tables } } = this.#options;
    const others = this.accessOf(channel).filter((entry) => entry.account !== account.name);
    if (status !== null && others.length >= accessEntries) {
      throw new Conflict(`${accessEntries} accounts have a status in ${channel.name} already.`);
    }
    const removal = tables.deleteFrom("irc_channel_access")
      .where("channel_id", "=", channel.id).where("account_id", "=", account.id);
    const statements = [statement(removal, { mustChange: status === null })];
    if (status !== null) {
      const ids = { channel_id: channel.id, account_id: account.id };
      const insertion = tables.insertInto("irc_channel_access").values({ ...ids, status });
      statements.push(accounts.guard(account), statement(insertion));
    }
    const data = { channel: channel.name, account: account.name, status };
    const event = newEvent("irc.channel_access_changed", data, origin, this.#now());
    await this.#commit(statements, event);
  }

  /** Finishes what is being written. */
  close(): Promise<void> {
    return this.#kept.close();
  }

  /** Runs a change when those before it are over, so that none goes beyond a limit together. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(change);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #commit(statements: readonly ReturnType<typeof statement>[], event: NewEvent) {
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
