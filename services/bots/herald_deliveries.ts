import { createHash } from "node:crypto";
import { type Database, type Statement, statement } from "../database/mod.ts";
import type { Scheduler } from "../scheduler.ts";

/** How long an accepted delivery is remembered, in milliseconds: 90 days. */
const REMEMBERED_MS = 90 * 86_400_000;

/** Most deliveries that are remembered; older ones make room. */
const MAX_REMEMBERED = 100_000;

/** The webhooks that herald accepted, so that it announces none twice. They are on disk. */
export class HeraldDeliveries {
  readonly #database: Database;
  readonly #scheduler: Scheduler;
  /** Deliveries that are being accepted. */
  readonly #open = new Map<string, Promise<unknown>>();
  #newest = 0;

  constructor(database: Database, scheduler: Scheduler) {
    this.#database = database;
    this.#scheduler = scheduler;
  }

  /** Finds where the last program ended. Call it before anything else. */
  async load(): Promise<void> {
    const row = await this.#database.tables.selectFrom("herald_deliveries").select("seq")
      .orderBy("seq", "desc").limit(1).executeTakeFirst();
    this.#newest = row?.seq ?? 0;
  }

  /**
   * Accepts a delivery, unless it was accepted before.
   *
   * @param identity what makes it this one
   * @param accept gets the statements that remember it, which belong to its transaction
   * @returns what `accept` returns; null if it was accepted before
   * @throws what `accept` throws, after which it may come again; Unavailable
   */
  async once<Accepted>(
    identity: string,
    accept: (remembering: readonly Statement[]) => Promise<Accepted>,
  ): Promise<Accepted | null> {
    const mark = createHash("sha256").update(identity).digest("base64url");
    const running = this.#open.get(mark);
    if (running !== undefined) {
      // If that one fails, this one was not accepted either.
      await running;
      return null;
    }
    const accepting = this.#acceptNew(mark, accept);
    this.#open.set(mark, accepting);
    try {
      return await accepting;
    } finally {
      this.#open.delete(mark);
    }
  }

  async #acceptNew<Accepted>(
    mark: string,
    accept: (remembering: readonly Statement[]) => Promise<Accepted>,
  ): Promise<Accepted | null> {
    const known = await this.#database.tables.selectFrom("herald_deliveries").select("seq")
      .where("mark", "=", mark).executeTakeFirst();
    return known === undefined ? await accept(this.#remembering(mark)) : null;
  }

  #remembering(mark: string): readonly Statement[] {
    const { tables } = this.#database;
    const at = this.#scheduler.now();
    const seq = ++this.#newest;
    const forgotten = [
      tables.deleteFrom("herald_deliveries").where("at", "<", at - REMEMBERED_MS),
      tables.deleteFrom("herald_deliveries").where("seq", "<=", seq - MAX_REMEMBERED),
    ];
    const added = tables.insertInto("herald_deliveries").values({ seq, mark, at });
    return [added, ...forgotten].map((one) => statement(one));
  }
}
