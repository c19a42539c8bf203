import { type Database, statement } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";

/** Somebody's presence over HTTP in a channel. */
export interface Visit {
  /** The channel's folded name. */
  readonly channel: string;
  readonly nick: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Presence over HTTP that was noted on any node. */
export interface VisitStore {
  /**
   * Notes a visit. Resolves when it is on disk.
   *
   * @throws Unavailable if the database cannot be written
   */
  note(visit: Visit): Promise<void>;
  /** The newest visit of each nick to each channel after a time, in Unix milliseconds. */
  after(time: number): Promise<Visit[]>;
  /**
   * Removes what is older than a time, in Unix milliseconds.
   *
   * @throws Unavailable if the database cannot be written
   */
  trim(time: number): Promise<void>;
}

/** The visits in the database that nodes share. */
export class StoredVisits implements VisitStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async note({ channel, nick, at }: Visit): Promise<void> {
    const visitor = foldCase(nick);
    const row = { channel, kind: "presence", visitor, nick, at } as const;
    await this.#database.commit({
      statements: [
        statement(
          this.#database.tables.insertInto("channel_visits").values(row)
            .onConflict((conflict) =>
              conflict.columns(["channel", "kind", "visitor"]).doUpdateSet({ nick, at })
            ),
        ),
      ],
    });
  }

  async after(time: number): Promise<Visit[]> {
    return await this.#database.tables.selectFrom("channel_visits")
      .select(["channel", "nick", "at"]).where("kind", "=", "presence").where("at", ">", time)
      .orderBy("at").execute();
  }

  async trim(time: number): Promise<void> {
    const removal = this.#database.tables.deleteFrom("channel_visits").where("at", "<", time);
    await this.#database.commit({ statements: [statement(removal)] });
  }
}
