import { type Database, statement } from "../../../engines/database/mod.ts";
import { DeferredTimes } from "../../../people/identity/mod.ts";
import { foldCase } from "../../../engines/irc/mod.ts";
import type { Log } from "../../../kernel/log.ts";

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
