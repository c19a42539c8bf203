import { type Database, statement } from "../../engines/database/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";

/** The key of what nodes note. */
const KEY = "network_comparison";

const DOUBTED = "doubted";

/** What is noted of a comparison that is over; the number is when it began, in Unix milliseconds. */
const DONE = /^done (\d+)$/;

/** By how much the clocks of two nodes may differ, in milliseconds. */
const CLOCK_MARGIN = 60_000;

export interface ComparisonsOptions {
  readonly database: Pick<Database, "tables" | "commit">;
  /**
   * Since when at least one of the nodes that run has been running, in Unix milliseconds. It has
   * noticed when the network was away.
   */
  readonly runningSince: () => number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** What nodes tell each other, in the database, of their comparisons with the network. */
export class Comparisons {
  readonly #options: ComparisonsOptions;

  constructor(options: ComparisonsOptions) {
    this.#options = options;
  }

  /**
   * When the last comparison began, in Unix milliseconds. Null if there was none, if it was broken
   * off, or if the network may have changed since without a node that noticed.
   */
  async last(): Promise<number | null> {
    const { database, runningSince, clock } = this.#options;
    const row = await database.tables.selectFrom("settings").select("value")
      .where("key", "=", KEY).executeTakeFirst();
    const [, time] = DONE.exec(row?.value ?? "") ?? [];
    if (time === undefined) return null;
    const began = Number(time);
    const isWatched = runningSince() + CLOCK_MARGIN < began;
    return isWatched && began <= clock() + CLOCK_MARGIN ? Math.min(began, clock()) : null;
  }

  /**
   * Notes that a comparison begins.
   *
   * @returns a function to call when it is over
   */
  async begin(): Promise<() => Promise<void>> {
    const { database, clock } = this.#options;
    const began = clock();
    const running = `running ${newUlid(began)}`;
    await this.#note(running);
    return async () => {
      // Unless a node has had doubts meanwhile.
      const done = database.tables.updateTable("settings").set({ value: `done ${began}` })
        .where("key", "=", KEY).where("value", "=", running);
      await database.commit({ statements: [statement(done)] });
    };
  }

  /** Notes that the network may have changed: the next leader must compare. */
  async doubt(): Promise<void> {
    await this.#note(DOUBTED);
  }

  async #note(value: string): Promise<void> {
    const { database } = this.#options;
    const noting = database.tables.insertInto("settings").values({ key: KEY, value })
      .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }));
    await database.commit({ statements: [statement(noting)] });
  }
}
