import type { Selectable } from "kysely";
import {
  type Database,
  type Directory,
  type Statement,
  statement,
  type Tables,
} from "../../engines/database/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";

/** Most unsettled accounts that are read at once. */
export const UNSETTLED_PAGE = 1000;

/** The key of the network's address in the database. */
const ADDRESS_KEY = "network_address";

/** muster's record of an account on the network. */
export interface LedgerEntry {
  readonly name: string;
  /** The account here that it belongs to; null if there is none yet, or it is gone. */
  readonly accountId: string | null;
  /** Whether muster is known to have created or adopted it. */
  readonly made: boolean;
  /** Whether it is known to have the mark of this instance of muster. */
  readonly marked: boolean;
  /** The salt of its passphrase; null if the passphrase is not muster's. */
  readonly salt: string | null;
  /**
   * The same for a passphrase that the network may have accepted. If present, an unfinished change
   * may also have suspended the account.
   */
  readonly nextSalt: string | null;
  /** Since when the network may differ, in Unix milliseconds, or null. */
  readonly unsettledSince: number | null;
  /** Channels in which to set the account's status, including unregistered ones. */
  readonly channels: readonly string[];
}

/** A new entry: the given values in place of the defaults. */
export const BLANK: Omit<LedgerEntry, "name"> = Object.freeze({
  accountId: null,
  made: false,
  marked: false,
  salt: null,
  nextSalt: null,
  unsettledSince: null,
  channels: [],
});

/** The properties that decide an agent's status in channels. */
export interface AgentFacts {
  readonly type: string;
  readonly channels: readonly string[];
}

/**
 * muster's accounts on the network, and where the network may differ from the database. An entry is
 * written before a change is requested from the network, and settled in the same transaction as the
 * change here.
 */
export class Ledger implements Directory {
  readonly tables = ["network_accounts"] as const;
  readonly #database: Database;
  /** Whether each entry is settled, by its folded name. */
  readonly #settled = new Map<string, boolean>();

  readonly #onChanged: () => void;
  #isOpen = false;

  private constructor(database: Database, onChanged: () => void) {
    this.#database = database;
    this.#onChanged = onChanged;
  }

  /**
   * Reads the list of entries from the database.
   *
   * @param onChanged called when others have changed it; must not throw
   */
  static async open(database: Database, onChanged: () => void): Promise<Ledger> {
    const ledger = new Ledger(database, onChanged);
    await database.keepCurrent(ledger);
    ledger.#isOpen = true;
    return ledger;
  }

  async load(): Promise<void> {
    const rows = await this.#database.tables.selectFrom("network_accounts")
      .select(["name_folded", "unsettled_since"]).execute();
    this.#settled.clear();
    for (const row of rows) this.#settled.set(row.name_folded, row.unsettled_since === null);
    if (this.#isOpen) this.#onChanged();
  }

  /** The entry of this name, compared without regard to case, or null. */
  async find(name: string): Promise<LedgerEntry | null> {
    if (!this.#settled.has(foldCase(name))) return null;
    const row = await this.#entries().where("name_folded", "=", foldCase(name)).executeTakeFirst();
    return row === undefined ? null : entryOf(row);
  }

  /**
   * A page of unsettled entries, those that have waited longest first.
   *
   * @param after the last entry of the page before; null for the first page
   * @returns at most {@linkcode UNSETTLED_PAGE}; fewer are the last page
   */
  async unsettled(after: LedgerEntry | null): Promise<LedgerEntry[]> {
    const since = after?.unsettledSince ?? -1;
    const name = foldCase(after?.name ?? "");
    const rows = await this.#entries().where("unsettled_since", ">=", since)
      .where(({ or, eb }) => or([eb("unsettled_since", ">", since), eb("name_folded", ">", name)]))
      .orderBy("unsettled_since").orderBy("name_folded").limit(UNSETTLED_PAGE).execute();
    return rows.map(entryOf);
  }

  /**
   * Entries that belong to an account, by name.
   *
   * @param after the last name of the page before, or ""
   */
  async belonging(after: string, limit: number): Promise<LedgerEntry[]> {
    const rows = await this.#entries().where("account_id", "is not", null)
      .where("name_folded", ">", foldCase(after)).orderBy("name_folded").limit(limit).execute();
    return rows.map(entryOf);
  }

  /** The number of unsettled entries. */
  get unsettledCount(): number {
    let count = 0;
    for (const settled of this.#settled.values()) if (!settled) count++;
    return count;
  }

  /** The number of active agents without a known account on the network. */
  async strangers(): Promise<number> {
    const { tables } = this.#database;
    const row = await tables.selectFrom("accounts")
      .leftJoin("network_accounts", "network_accounts.account_id", "accounts.id")
      .select(({ fn }) => fn.countAll<number>().as("strangers"))
      .where("kind", "=", "agent").where("agent_id", "is", null).where("revoked_at", "is", null)
      .where("network_accounts.account_id", "is", null).executeTakeFirst();
    return Number(row?.strangers ?? 0);
  }

  /** The properties that decide an account's status in channels; null if it is not an agent. */
  async agent(accountId: string): Promise<AgentFacts | null> {
    const row = await this.#database.tables.selectFrom("agents").select(["type", "channels"])
      .where("account_id", "=", accountId).executeTakeFirst();
    return row === undefined ? null : { type: row.type, channels: JSON.parse(row.channels) };
  }

  /** The statement that inserts or replaces an entry. */
  saving(entry: LedgerEntry): Statement {
    const { name, accountId, made, marked, salt, nextSalt, unsettledSince, channels } = entry;
    const columns = {
      name,
      account_id: accountId,
      made: Number(made),
      marked: Number(marked),
      salt,
      next_salt: nextSalt,
      unsettled_since: unsettledSince,
      channels: JSON.stringify(channels),
    };
    return statement(
      this.#database.tables.insertInto("network_accounts")
        .values({ name_folded: foldCase(name), ...columns })
        .onConflict((conflict) => conflict.column("name_folded").doUpdateSet(columns)),
      {
        mustChange: true,
        committed: () => this.#settled.set(foldCase(name), unsettledSince === null),
      },
    );
  }

  /**
   * The statements for a changed network: no account there counts as ours until that is proven.
   *
   * @param address the address of the network
   * @param now Unix milliseconds
   */
  async moving(address: string, now: number): Promise<Statement[]> {
    const { tables } = this.#database;
    const known = await tables.selectFrom("settings").select("value")
      .where("key", "=", ADDRESS_KEY).executeTakeFirst();
    if (known?.value === address) return [];
    const noting = tables.insertInto("settings").values({ key: ADDRESS_KEY, value: address })
      .onConflict((conflict) => conflict.column("key").doUpdateSet({ value: address }));
    if (known === undefined) return [statement(noting)];
    const doubting = tables.updateTable("network_accounts")
      .set({ made: 0, marked: 0, unsettled_since: now });
    const committed = () => {
      for (const name of this.#settled.keys()) this.#settled.set(name, false);
    };
    return [statement(noting), statement(doubting, { committed })];
  }

  /** The statement that removes an entry. */
  striking({ name }: LedgerEntry): Statement {
    return statement(
      this.#database.tables.deleteFrom("network_accounts")
        .where("name_folded", "=", foldCase(name)),
      { committed: () => this.#settled.delete(foldCase(name)) },
    );
  }

  #entries() {
    return this.#database.tables.selectFrom("network_accounts").selectAll();
  }
}

/** The id of this instance of muster, stored in its database: 20 hex digits. */
export async function instanceIn({ tables }: Database): Promise<string> {
  const row = await tables.selectFrom("instance").select("id").executeTakeFirstOrThrow();
  return row.id;
}

function entryOf(row: Selectable<Tables["network_accounts"]>): LedgerEntry {
  return {
    name: row.name,
    accountId: row.account_id,
    made: row.made === 1,
    marked: row.marked === 1,
    salt: row.salt,
    nextSalt: row.next_salt,
    unsettledSince: row.unsettled_since,
    channels: JSON.parse(row.channels),
  };
}
