import type { z } from "zod";
import { type Database, type Statement, statement, Unchanged } from "../../engines/database/mod.ts";
import { TooLarge, Unavailable } from "../../kernel/errors.ts";

/** Most UTF-16 units of one value, as JSON. */
export const MAX_STATE_LENGTH = 262_144;

/** After how many seconds to try again what another node does now. */
const RETRY_SECONDS = 2;

export interface BotStateOptions {
  readonly database: Pick<Database, "tables" | "commit">;
  readonly bot: string;
  /** Statements without which nothing is written. */
  readonly guard: () => readonly Statement[];
}

/** What a bot keeps across restarts: a few JSON documents, by key, in the database. */
export class BotState {
  readonly #options: BotStateOptions;
  /** The last write: the next one follows it. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(options: BotStateOptions) {
    this.#options = options;
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
    const { database, bot } = this.#options;
    const row = await database.tables.selectFrom("bot_state").select("value")
      .where("bot", "=", bot).where("key", "=", key).executeTakeFirst();
    if (row === undefined) return null;
    const schema = await load();
    const parsed = schema.safeParse(JSON.parse(row.value));
    return parsed.success ? parsed.data : null;
  }

  /**
   * Replaces a document. Resolves when it is on disk.
   *
   * @param more statements of the same transaction
   * @throws TooLarge; Unavailable, also if another node may run the bot already
   */
  write(key: string, value: unknown, more: readonly Statement[] = []): Promise<void> {
    const text = JSON.stringify(value);
    if (text.length > MAX_STATE_LENGTH) throw new TooLarge("The bot keeps too much already");
    const { database, bot, guard } = this.#options;
    const insertion = database.tables.insertInto("bot_state").values({ bot, key, value: text })
      .onConflict((conflict) => conflict.columns(["bot", "key"]).doUpdateSet({ value: text }));
    const written = this.#written.then(async () => {
      const guards = guard();
      try {
        await database.commit({ statements: [...guards, statement(insertion), ...more] });
      } catch (error) {
        const isElsewhere = error instanceof Unchanged && error.statement < guards.length;
        throw isElsewhere ? runsElsewhere(error) : error;
      }
    });
    this.#written = written.catch(() => {});
    return written;
  }
}

function runsElsewhere(cause: Unchanged): Unavailable {
  return new Unavailable("The bots are on another node now; try again", {
    retryAfterSeconds: RETRY_SECONDS,
    cause,
  });
}
