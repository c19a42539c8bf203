import type { StatementSync } from "node:sqlite";
import { type Database, statement } from "./database/mod.ts";
import { NotFound } from "./errors.ts";
import type { AccountDirectory } from "./identity/mod.ts";
import { MARKED_TARGETS, type ReadMarkerStore } from "./irc/mod.ts";
import type { Log } from "./log.ts";

export interface ReadMarkersOptions {
  readonly database: Database;
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly log: Log;
}

/** Keeps in the database how far the accounts of the IRC server have read. */
export class ReadMarkers implements ReadMarkerStore {
  readonly #options: ReadMarkersOptions;
  readonly #read: StatementSync;
  readonly #count: StatementSync;

  constructor(options: ReadMarkersOptions) {
    this.#options = options;
    const { database } = options;
    this.#read = database.prepare(
      "SELECT time FROM read_markers WHERE account_id = ? AND target = ?",
    );
    this.#count = database.prepare(
      "SELECT count(*) AS markers FROM read_markers WHERE account_id = ?",
    );
  }

  read(account: string, target: string): number | null {
    const id = this.#options.accounts.find(account)?.id;
    return id === undefined ? null : this.#timeOf(id, target);
  }

  /** @throws NotFound where there is no such account, and what the database throws */
  async advance(account: string, target: string, time: number): Promise<number> {
    const { database, accounts } = this.#options;
    const id = accounts.find(account)?.id;
    if (id === undefined) throw new NotFound(`There is no account "${account}"`);
    const marker = database.tables.insertInto("read_markers")
      .values({ account_id: id, target, time })
      .onConflict((conflict) =>
        conflict.columns(["account_id", "target"]).doUpdateSet(({ fn }) => ({
          time: fn<number>("max", ["read_markers.time", "excluded.time"]),
        }))
      );
    const isNew = this.#timeOf(id, target) === null;
    const isFull = isNew && Number(this.#count.get(id)?.["markers"]) >= MARKED_TARGETS;
    const statements = isFull ? [this.#removalOfOldest(id)] : [];
    await database.commit({ statements: [...statements, statement(marker)] });
    return this.#timeOf(id, target) ?? time;
  }

  rename(from: string, to: string): void {
    const { tables } = this.#options.database;
    this.#change([
      statement(tables.deleteFrom("read_markers").where("target", "=", to)),
      statement(tables.updateTable("read_markers").set({ target: to }).where("target", "=", from)),
    ]);
  }

  forget(account: string): void {
    const id = this.#options.accounts.find(account)?.id;
    if (id === undefined) return;
    const { tables } = this.#options.database;
    this.#change([statement(tables.deleteFrom("read_markers").where("account_id", "=", id))]);
  }

  #timeOf(accountId: string, target: string): number | null {
    const row = this.#read.get(accountId, target);
    return row === undefined ? null : Number(row["time"]);
  }

  #removalOfOldest(accountId: string) {
    const { tables } = this.#options.database;
    const oldest = tables.selectFrom("read_markers as others").select("others.target")
      .where("others.account_id", "=", accountId).orderBy("others.time").limit(1);
    return statement(
      tables.deleteFrom("read_markers").where("account_id", "=", accountId)
        .where("target", "=", oldest),
    );
  }

  #change(statements: readonly ReturnType<typeof statement>[]): void {
    this.#options.database.commit({ statements }).catch((error: unknown) => {
      this.#options.log.warn("Read markers could not be changed", { error });
    });
  }
}
