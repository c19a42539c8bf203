import { type Database, statement } from "../../database/mod.ts";
import { DeferredTimes } from "../../identity/mod.ts";
import type { Log } from "../../log.ts";

/** The last call of an account over HTTP, MCP or the web pages. */
export interface Call {
  /** The internal id of the account. */
  readonly account: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** The store of last calls. */
export interface CallStore {
  /** Notes a call, to be written later. */
  note(account: string, at: number): void;
  /** Forgets an account, which leaves. */
  remove(account: string): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

/**
 * The last calls of the accounts that are users of the IRC server, in the database: who was there
 * before a restart is there after it. A kill may lose the calls of the last minute.
 */
export class StoredCalls implements CallStore {
  readonly #database: Database;
  readonly #times: DeferredTimes;
  readonly #log: Log;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
    this.#times = new DeferredTimes({ write: (times) => this.#write(times), log });
  }

  /**
   * The calls since a time, the oldest first. Forgets older ones.
   *
   * @param time Unix milliseconds
   */
  async since(time: number): Promise<Call[]> {
    const removal = this.#database.tables.deleteFrom("virtual_users").where("called_at", "<", time);
    await this.#database.commit({ statements: [statement(removal)] });
    const rows = await this.#database.tables.selectFrom("virtual_users")
      .select(["account_id", "called_at"]).orderBy("called_at").execute();
    return rows.map(({ account_id: account, called_at: at }) => ({ account, at }));
  }

  note(account: string, at: number): void {
    this.#times.set(account, at);
  }

  remove(account: string): void {
    this.#times.delete(account);
    const removal = this.#database.tables.deleteFrom("virtual_users")
      .where("account_id", "=", account);
    this.#database.commit({ statements: [statement(removal)] }).catch((error: unknown) => {
      this.#log.warn("A user that left IRC may return after a restart", { error });
    });
  }

  async close(): Promise<void> {
    await this.#times.flush();
  }

  #write(times: ReadonlyMap<string, number>): Promise<unknown> {
    return this.#database.commit({
      statements: Array.from(times, ([account_id, called_at]) =>
        statement(
          this.#database.tables.insertInto("virtual_users").values({ account_id, called_at })
            .onConflict((conflict) => conflict.column("account_id").doUpdateSet({ called_at })),
        )),
    });
  }
}
