import { type Database, statement } from "../../database/mod.ts";
import { foldCase } from "../../irc/mod.ts";

/** A channel that an agent joined or spoke in, and rejoins. */
export interface Home {
  /** The internal id of the agent. */
  readonly agent: string;
  /** With `#`. */
  readonly channel: string;
}

/** The store of the channels that agents rejoin. */
export interface HomeStore {
  /** Resolves when it is on disk. */
  put(home: Home): Promise<void>;
  /** Resolves when that is on disk. */
  remove(home: Home): Promise<void>;
}

/** The channels that agents rejoin, in the database. They end with the agent's account. */
export class StoredHomes implements HomeStore {
  readonly #database: Database;
  readonly #clock: () => number;
  #lastNoted = 0;

  /** @param clock Unix milliseconds */
  constructor(database: Database, clock: () => number) {
    this.#database = database;
    this.#clock = clock;
  }

  /** All of them, in the order of recording. */
  async list(): Promise<Home[]> {
    const rows = await this.#database.tables.selectFrom("agent_channels")
      .select(["account_id", "name"]).orderBy("noted_at").orderBy("name_folded").execute();
    return rows.map(({ account_id: agent, name: channel }) => ({ agent, channel }));
  }

  /** @throws Unavailable if the database cannot be written */
  async put({ agent, channel }: Home): Promise<void> {
    const noted_at = this.#lastNoted = Math.max(this.#clock(), this.#lastNoted + 1);
    const insertion = this.#database.tables.insertInto("agent_channels")
      .values({ account_id: agent, name_folded: foldCase(channel), name: channel, noted_at })
      .onConflict((conflict) => conflict.doNothing());
    await this.#database.commit({ statements: [statement(insertion)] });
  }

  /** @throws Unavailable if the database cannot be written */
  async remove({ agent, channel }: Home): Promise<void> {
    const removal = this.#database.tables.deleteFrom("agent_channels")
      .where("account_id", "=", agent).where("name_folded", "=", foldCase(channel));
    await this.#database.commit({ statements: [statement(removal)] });
  }
}
