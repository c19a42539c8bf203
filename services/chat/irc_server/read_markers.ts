import {
  type Database,
  type Directory,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import { NotFound } from "../../kernel/errors.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { MARKED_TARGETS, type ReadMarkerStore } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";

export interface ReadMarkersOptions {
  readonly database: Database;
  readonly accounts: Pick<AccountDirectory, "find" | "onChanged">;
  readonly log: Log;
}

/**
 * Keeps in the database how far the accounts of the IRC server have read. The server tells a marker
 * with each JOIN, so all of them are held in memory too.
 */
export class ReadMarkers implements ReadMarkerStore, Directory {
  readonly tables = ["read_markers"] as const;
  readonly #options: ReadMarkersOptions;
  /** Times by folded target, by the internal id of the account. */
  readonly #byAccount = new Map<string, Map<string, number>>();

  private constructor(options: ReadMarkersOptions) {
    this.#options = options;
  }

  /** Reads all markers from the database. */
  static async open(options: ReadMarkersOptions): Promise<ReadMarkers> {
    const markers = new ReadMarkers(options);
    await options.database.keepCurrent(markers);
    options.accounts.onChanged((id, account) => {
      if (account === null) markers.#byAccount.delete(id);
    });
    return markers;
  }

  async load(): Promise<void> {
    const { tables } = this.#options.database;
    const rows = await tables.selectFrom("read_markers").selectAll().execute();
    this.#byAccount.clear();
    for (const { account_id, target, time } of rows) this.#of(account_id).set(target, time);
  }

  read(account: string, target: string): number | null {
    const id = this.#options.accounts.find(account)?.id;
    return id === undefined ? null : this.#timeOf(id, target);
  }

  /** @throws NotFound if there is no such account, and what the database throws */
  async advance(account: string, target: string, time: number): Promise<number> {
    const { database, accounts } = this.#options;
    const id = accounts.find(account)?.id;
    if (id === undefined) throw new NotFound(`There is no account "${account}"`);
    const isNew = this.#timeOf(id, target) === null;
    const isFull = isNew && (this.#byAccount.get(id)?.size ?? 0) >= MARKED_TARGETS;
    const removals = isFull ? [this.#removalOfOldest(id)] : [];
    await database.commit({ statements: [...removals, this.#moving(id, target, time)] });
    return this.#timeOf(id, target) ?? time;
  }

  rename(from: string, to: string): void {
    const { tables } = this.#options.database;
    const update = tables.updateTable("read_markers").set({ target: to })
      .where("target", "=", from);
    const committed = () => {
      for (const markers of this.#byAccount.values()) {
        const time = markers.get(from);
        markers.delete(to);
        markers.delete(from);
        if (time !== undefined) markers.set(to, time);
      }
    };
    this.#change([
      statement(tables.deleteFrom("read_markers").where("target", "=", to)),
      statement(update, { committed }),
    ]);
  }

  forget(account: string): void {
    const id = this.#options.accounts.find(account)?.id;
    if (id === undefined) return;
    const removal = this.#options.database.tables.deleteFrom("read_markers")
      .where("account_id", "=", id);
    this.#change([statement(removal, { committed: () => this.#byAccount.delete(id) })]);
  }

  #of(accountId: string): Map<string, number> {
    const markers = this.#byAccount.get(accountId) ?? new Map<string, number>();
    this.#byAccount.set(accountId, markers);
    return markers;
  }

  #timeOf(accountId: string, target: string): number | null {
    return this.#byAccount.get(accountId)?.get(target) ?? null;
  }

  #moving(accountId: string, target: string, time: number): Statement {
    const marker = this.#options.database.tables.insertInto("read_markers")
      .values({ account_id: accountId, target, time })
      .onConflict((conflict) =>
        conflict.columns(["account_id", "target"]).doUpdateSet(({ eb }) => ({
          time: eb.case().when("read_markers.time", ">", eb.ref("excluded.time"))
            .then(eb.ref("read_markers.time")).else(eb.ref("excluded.time")).end(),
        }))
      );
    const committed = () => {
      const markers = this.#of(accountId);
      markers.set(target, Math.max(time, markers.get(target) ?? time));
    };
    return statement(marker, { committed });
  }

  /** Two of the same time are ordered by their names, here and in memory. */
  #removalOfOldest(accountId: string): Statement {
    const { tables } = this.#options.database;
    const oldest = tables.selectFrom("read_markers as others").select("others.target")
      .where("others.account_id", "=", accountId)
      .orderBy("others.time").orderBy("others.target").limit(1);
    const removal = tables.deleteFrom("read_markers").where("account_id", "=", accountId)
      .where("target", "=", oldest);
    const committed = () => {
      const markers = this.#of(accountId);
      const [first, ...others] = markers;
      if (first === undefined) return;
      const [target] = others.reduce((one, other) => isBefore(other, one) ? other : one, first);
      markers.delete(target);
    };
    return statement(removal, { committed });
  }

  #change(statements: readonly Statement[]): void {
    this.#options.database.commit({ statements }).catch((error: unknown) => {
      this.#options.log.warn("Read markers could not be changed", { error });
    });
  }
}

type Marker = readonly [target: string, time: number];

function isBefore([target, time]: Marker, [otherTarget, otherTime]: Marker): boolean {
  return time < otherTime || (time === otherTime && target < otherTarget);
}
