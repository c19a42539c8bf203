import type { z } from "zod";
import { type Database, statement } from "../database/mod.ts";
import { TooLarge } from "../errors.ts";

/** Most UTF-16 units of one value, as JSON. */
export const MAX_STATE_LENGTH = 262_144;

/** What a bot keeps across restarts: a few JSON documents, by key, in the database. */
export class BotState {
  readonly #database: Database;
  readonly #bot: string;
  /** The last write: the next one follows it. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(database: Database, bot: string) {
    this.#database = database;
    this.#bot = bot;
  }

  /**
   * Reads a document.
   *
   * @param load returns the schema that validates it, because an earlier version may have written it
   * @returns null if there is none, or if it is not valid any more
   */
  async read<Value>(
    key: string,
    load: () => z.ZodType<Value> | Promise<z.ZodType<Value>>,
  ): Promise<Value | null> {
    await this.#written;
    const row = await this.#database.tables.selectFrom("bot_state").select("value")
      .where("bot", "=", this.#bot).where("key", "=", key).executeTakeFirst();
    if (row === undefined) return null;
    const schema = await load();
    const parsed = schema.safeParse(JSON.parse(row.value));
    return parsed.success ? parsed.data : null;
  }

  /**
   * Replaces a document. Resolves when it is on disk.
   *
   * @throws TooLarge, Unavailable
   */
  write(key: string, value: unknown): Promise<void> {
    const text = JSON.stringify(value);
    if (text.length > MAX_STATE_LENGTH) throw new TooLarge("The bot keeps too much already");
    const row = { bot: this.#bot, key, value: text };
    const insertion = this.#database.tables.insertInto("bot_state").values(row)
      .onConflict((conflict) => conflict.columns(["bot", "key"]).doUpdateSet({ value: text }));
    const written = this.#written.then(() =>
      this.#database.commit({ statements: [statement(insertion)] })
    );
    this.#written = written.catch(() => {});
    return written.then(() => {});
  }
}
