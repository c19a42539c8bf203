import type { StatementSync } from "node:sqlite";
import { type Database, statement } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";

/** A channel that the bridge comes back to after a restart. */
export interface StoredChannel {
  /** With `#`. */
  readonly name: string;
  /** The internal id of the agent for which the bridge is in it; null for the operator. */
  readonly opener: string | null;
}

/** Where the bridge notes its channels. */
export interface ChannelStore {
  list(): StoredChannel[];
  /** Resolves when it is on disk. */
  put(channel: StoredChannel): Promise<void>;
  /** Resolves when that is on disk. */
  remove(name: string): Promise<void>;
}

/** The channels of the bridge in the database, beside those that the configuration names. */
export class StoredChannels implements ChannelStore {
  readonly #database: Database;
  readonly #select: StatementSync;

  constructor(database: Database) {
    this.#database = database;
    this.#select = database.prepare("SELECT name, opener_id FROM bridge_channels ORDER BY name");
  }

  list(): StoredChannel[] {
    return this.#select.all().map((row) => ({
      name: String(row["name"]),
      opener: row["opener_id"] === null ? null : String(row["opener_id"]),
    }));
  }

  /** @throws Unavailable where the database cannot be written */
  async put({ name, opener }: StoredChannel): Promise<void> {
    const { tables } = this.#database;
    // An agent that was deleted meanwhile is nobody.
    const known = tables.selectFrom("accounts").select("id").where("id", "=", opener ?? "");
    const insertion = tables.insertInto("bridge_channels")
      .values({ name_folded: foldCase(name), name, opener_id: known })
      .onConflict((conflict) => conflict.column("name_folded").doUpdateSet({ opener_id: known }));
    await this.#database.commit({ statements: [statement(insertion)] });
  }

  /** @throws Unavailable where the database cannot be written */
  async remove(name: string): Promise<void> {
    const removal = this.#database.tables.deleteFrom("bridge_channels")
      .where("name_folded", "=", foldCase(name));
    await this.#database.commit({ statements: [statement(removal)] });
  }
}
