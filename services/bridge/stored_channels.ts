import { type Database, statement } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";

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
