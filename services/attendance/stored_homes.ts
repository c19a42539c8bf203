import type { StatementSync } from "node:sqlite";
import { type Database, statement } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";

/** A channel that an agent joined or spoke in, and comes back to. */
export interface Home {
  /** The internal id of the agent. */
  readonly agent: string;
  /** With `#`. */
  readonly channel: string;
}

/** Where it is noted which channels agents come back to. */
export interface HomeStore {
  /** All of them, those first that were noted first. */
  list(): Home[];
  /** Resolves when it is on disk. */
  put(home: Home): Promise<void>;
  /** Resolves when that is on disk. */
  remove(home: Home): Promise<void>;
}

/** The channels that agents come back to, in the database. They go with the agent's account. */
export class StoredHomes implements HomeStore {
  readonly #database: Database;
  readonly #select: StatementSync;

  constructor(database: Database) {
    this.#database = database;
    this.#select = database.prepare("SELECT account_id, name FROM agent_channels ORDER BY rowid");
  }

  list(): Home[] {
    return this.#select.all().map((row) => ({
      agent: String(row["account_id"]),
      channel: String(row["name"]),
    }));
  }

  /** @throws Unavailable where the database cannot be written */
  async put({ agent, channel }: Home): Promise<void> {
    const insertion = this.#database.tables.insertInto("agent_channels")
      .values({ account_id: agent, name_folded: foldCase(channel), name: channel })
      .onConflict((conflict) => conflict.doNothing());
    await this.#database.commit({ statements: [statement(insertion)] });
  }

  /** @throws Unavailable where the database cannot be written */
  async remove({ agent, channel }: Home): Promise<void> {
    const removal = this.#database.tables.deleteFrom("agent_channels")
      .where("account_id", "=", agent).where("name_folded", "=", foldCase(channel));
    await this.#database.commit({ statements: [statement(removal)] });
  }
}
