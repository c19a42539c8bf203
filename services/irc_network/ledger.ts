import type { StatementSync } from "node:sqlite";
import { type Database, type Statement, statement } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";

/** Most unsettled accounts that are read at once. */
const MAX_UNSETTLED = 1000;

/** Where the address of the network is kept. */
const ADDRESS_KEY = "network_address";

/** An account on the network as muster has noted it. */
export interface LedgerEntry {
  readonly name: string;
  /** The account here that it belongs to; null where there is none yet, or none any more. */
  readonly accountId: string | null;
  /** Whether it is known that muster made it or took it over. */
  readonly made: boolean;
  /** Whether it is known to bear the mark of this instance of muster. */
  readonly marked: boolean;
  /** What its passphrase is derived from; null where the passphrase is not muster's. */
  readonly salt: string | null;
  /**
   * The same for a passphrase that the network may have taken. Where there is one, the account may
   * also be suspended because of a change that was not finished.
   */
  readonly nextSalt: string | null;
  /** Since when the network may be otherwise than it should, in Unix milliseconds, or null. */
  readonly unsettledSince: number | null;
  /** Channels whose status of the account is to be set, also where they are not registered yet. */
  readonly channels: readonly string[];
}

/** An account of which nothing is known but what is put in its place. */
export const BLANK: Omit<LedgerEntry, "name"> = Object.freeze({
  accountId: null,
  made: false,
  marked: false,
  salt: null,
  nextSalt: null,
  unsettledSince: null,
  channels: [],
});

/** What decides an agent's status in channels. */
export interface AgentFacts {
  readonly type: string;
  readonly channels: readonly string[];
}

/**
 * What muster has on the network, and where the network may be otherwise than the database says.
 * An entry is written before the network is asked for a change, and is settled together with the
 * change here.
 */
export class Ledger {
  readonly #database: Database;
  readonly #byName: StatementSync;
  readonly #unsettled: StatementSync;
  readonly #belonging: StatementSync;
  readonly #count: StatementSync;
  readonly #agent: StatementSync;
  readonly #strangers: StatementSync;
  readonly #address: StatementSync;

  constructor(database: Database) {
    this.#database = database;
    const select = "SELECT * FROM network_accounts";
    this.#byName = database.prepare(`${select} WHERE name_folded = ?`);
    this.#unsettled = database.prepare(
      `${select} WHERE unsettled_since IS NOT NULL ORDER BY unsettled_since LIMIT ${MAX_UNSETTLED}`,
    );
    this.#belonging = database.prepare(
      `${select} WHERE account_id IS NOT NULL AND name_folded > ? ORDER BY name_folded LIMIT ?`,
    );
    this.#count = database.prepare(
      "SELECT count(*) AS unsettled FROM network_accounts WHERE unsettled_since IS NOT NULL",
    );
    this.#address = database.prepare(`SELECT value FROM settings WHERE key = '${ADDRESS_KEY}'`);
    this.#agent = database.prepare("SELECT type, channels FROM agents WHERE account_id = ?");
    this.#strangers = database.prepare(
      `SELECT count(*) AS strangers FROM accounts
       WHERE kind = 'agent' AND revoked_at IS NULL
         AND id NOT IN (SELECT account_id FROM network_accounts WHERE account_id IS NOT NULL)`,
    );
  }

  /** The entry of this name, compared without regard to case, or null. */
  find(name: string): LedgerEntry | null {
    const row = this.#byName.get(foldCase(name));
    return row === undefined ? null : entryOf(row);
  }

  /** Entries that are not settled, those that have waited longest first; not more than 1,000. */
  unsettled(): LedgerEntry[] {
    return this.#unsettled.all().map(entryOf);
  }

  /**
   * Entries that belong to an account, by name.
   *
   * @param after the last name of the page before, or ""
   */
  belonging(after: string, limit: number): LedgerEntry[] {
    return this.#belonging.all(foldCase(after), limit).map(entryOf);
  }

  /** How many entries are not settled. */
  get unsettledCount(): number {
    return Number(this.#count.get()?.["unsettled"]);
  }

  /** How many agents that may log in have no account on the network that muster knows of. */
  get strangers(): number {
    return Number(this.#strangers.get()?.["strangers"]);
  }

  /** What decides the status of an account in channels; null where it is no agent. */
  agent(accountId: string): AgentFacts | null {
    const row = this.#agent.get(accountId);
    if (row === undefined) return null;
    return { type: String(row["type"]), channels: JSON.parse(String(row["channels"])) };
  }

  /** The statement that writes an entry, whether there was one of its name or not. */
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
      { mustChange: true },
    );
  }

  /**
   * The statements that make sure, where this is another network than the last time, that nothing is
   * taken for ours there before it has shown to be.
   *
   * @param address where the network is
   * @param now Unix milliseconds
   */
  moving(address: string, now: number): Statement[] {
    const known = this.#address.get()?.["value"];
    if (known === address) return [];
    const { tables } = this.#database;
    const noting = tables.insertInto("settings").values({ key: ADDRESS_KEY, value: address })
      .onConflict((conflict) => conflict.column("key").doUpdateSet({ value: address }));
    if (known === undefined) return [statement(noting)];
    const doubting = tables.updateTable("network_accounts").set({
      ...{ made: 0, marked: 0 },
      unsettled_since: now,
    });
    return [statement(noting), statement(doubting)];
  }

  /** The statement that strikes an entry out. */
  striking({ name }: LedgerEntry): Statement {
    return statement(
      this.#database.tables.deleteFrom("network_accounts")
        .where("name_folded", "=", foldCase(name)),
    );
  }
}

/** The id of this instance of muster, which lies in its database: 20 hex digits. */
export function instanceIn(database: Database): string {
  const row = database.prepare("SELECT id FROM instance").get();
  return String(row?.["id"]);
}

function entryOf(row: ReturnType<StatementSync["all"]>[number]): LedgerEntry {
  const text = (column: string) => row[column] === null ? null : String(row[column]);
  return {
    name: String(row["name"]),
    accountId: text("account_id"),
    made: row["made"] === 1,
    marked: row["marked"] === 1,
    salt: text("salt"),
    nextSalt: text("next_salt"),
    unsettledSince: row["unsettled_since"] === null ? null : Number(row["unsettled_since"]),
    channels: JSON.parse(String(row["channels"])),
  };
}
