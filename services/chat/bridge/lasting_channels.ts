import { type Database, statement } from "../../engines/database/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Channel } from "./channel.ts";

export interface LastingChannelsOptions {
  /** Names of the channels that the bridge is always in. */
  readonly kept: readonly string[];
  /** The store of the others; null for none. */
  readonly store: ChannelStore | null;
  /** The content of the store at the start. */
  readonly restored: readonly StoredChannel[];
  readonly log: Log;
}

/** The channels that the bridge rejoins: those that it always keeps, and those in the store. */
export class LastingChannels {
  readonly #store: ChannelStore | null;
  readonly #log: Log;
  /** What the store has recorded: the values of `stored` that are fulfilled. */
  readonly #recorded = new WeakSet<Promise<void>>();
  /** The names of the kept channels, by folded name. */
  readonly #kept: Map<string, string>;
  /** The channels from before the restart, until they are requested. */
  #restored: readonly StoredChannel[];

  constructor(options: LastingChannelsOptions) {
    this.#store = options.store;
    this.#log = options.log;
    this.#kept = new Map(options.kept.map((name) => [foldCase(name), name]));
    this.#restored = options.restored;
  }

  /** The names of the channels that the bridge keeps, whether anybody uses them or not. */
  get kept(): readonly string[] {
    return [...this.#kept.values()];
  }

  /** Whether the bridge keeps a channel. */
  keeps(name: string): boolean {
    return this.#kept.has(foldCase(name));
  }

  /** The channels from before the restart; none after the first call. */
  takeRestored(): readonly StoredChannel[] {
    const restored = this.#restored;
    this.#restored = [];
    return restored;
  }

  /**
   * Records that the bridge rejoins a channel. Once the operator uses a channel, it no longer
   * counts as the agent's.
   *
   * @param agent the internal id of the agent that uses it; null for the operator
   * @returns a promise that resolves when it is recorded, or rejects with Unavailable if it cannot
   * be; null if it is recorded already
   */
  note(channel: Channel, agent: string | null): Promise<void> | null {
    if (this.#store === null || this.keeps(channel.name)) return null;
    if (agent === null && channel.opener !== null) channel.stored = channel.opener = null;
    const storing = channel.stored ??= this.#store.put(channel);
    return this.#recorded.has(storing) ? null : this.#record(channel, storing);
  }

  async #record(channel: Channel, storing: Promise<void>): Promise<void> {
    try {
      await storing;
      this.#recorded.add(storing);
    } catch (error) {
      if (channel.stored === storing) channel.stored = null;
      throw error;
    }
  }

  /**
   * Records that the bridge does not rejoin a channel, even a kept one.
   *
   * @throws Unavailable if it cannot be recorded
   */
  async forget(name: string): Promise<void> {
    await this.#store?.remove(name);
    this.#kept.delete(foldCase(name));
  }

  /** Keeps a channel no longer that another node has left, by its folded name. */
  leftElsewhere(folded: string): void {
    this.#kept.delete(folded);
  }

  /** Records that an IRC user removed the bridge from a channel. */
  removedFrom(channel: Channel): void {
    if (channel.stored === null || this.keeps(channel.name)) return;
    this.#store?.remove(channel.name).catch((error: unknown) => {
      this.#log.warn("The bridge's departure from a channel could not be stored", { error });
    });
  }
}

/** A channel that the bridge rejoins after a restart. */
export interface StoredChannel {
  /** With `#`. */
  readonly name: string;
  /** The internal id of the agent for whom the bridge is in it; null for the operator. */
  readonly opener: string | null;
}

/** The store of the bridge's channels. */
export interface ChannelStore {
  /** Resolves when it is on disk. */
  put(channel: StoredChannel): Promise<void>;
  /** Resolves when that is on disk. */
  remove(name: string): Promise<void>;
}

/** The channels of the bridge in the database, beside those that the configuration names. */
export class StoredChannels implements ChannelStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** All of them, by name. */
  async list(): Promise<StoredChannel[]> {
    const rows = await this.#database.tables.selectFrom("bridge_channels")
      .select(["name", "opener_id"]).orderBy("name").execute();
    return rows.map(({ name, opener_id: opener }) => ({ name, opener }));
  }

  /** @throws Unavailable if the database cannot be written */
  async put(channel: StoredChannel): Promise<void> {
    await this.#database.commit({ statements: [statement(this.putting(channel))] });
  }

  /** The query that records a channel. */
  putting({ name, opener }: StoredChannel) {
    const { tables } = this.#database;
    // An agent that was deleted meanwhile counts as none.
    const known = tables.selectFrom("accounts").select("id").where("id", "=", opener ?? "");
    return tables.insertInto("bridge_channels")
      .values({ name_folded: foldCase(name), name, opener_id: known })
      .onConflict((conflict) => conflict.column("name_folded").doUpdateSet({ opener_id: known }));
  }

  /** @throws Unavailable if the database cannot be written */
  async remove(name: string): Promise<void> {
    const removal = this.#database.tables.deleteFrom("bridge_channels")
      .where("name_folded", "=", foldCase(name));
    await this.#database.commit({ statements: [statement(removal)] });
  }
}
