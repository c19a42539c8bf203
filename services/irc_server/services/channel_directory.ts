import { type Database, type Directory, type Statement, statement } from "../../database/mod.ts";
import type { Account, AccountDirectory } from "../../identity/mod.ts";
import { foldCase, type GrantableStatus } from "../../irc/mod.ts";

/** A registered channel as the directory holds it. */
export interface ChannelRecord {
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

export interface ChannelDirectoryOptions {
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
