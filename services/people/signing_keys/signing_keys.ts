import {
  type Database,
  type Directory,
  Duplicate,
  statement,
  Unchanged,
} from "../../engines/database/mod.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { type Account, type AccountDirectory, type Caller, originOf } from "../identity/mod.ts";

/** Most keys of an account. */
export const MOST_KEYS = 20;

export interface SigningKeysOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A key as it is shown. */
export interface SigningKey {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly fingerprint: string;
  /** The line of a file with it. */
  readonly key: string;
  /** ISO 8601. */
  readonly created_at: string;
}

/** A key that somebody adds. */
export interface NewSigningKey extends Pick<SigningKey, "name" | "fingerprint" | "key"> {
  readonly owner: Account;
}

interface HeldKey {
  readonly id: string;
  readonly accountId: string;
}

/** The keys with which accounts sign their commits. A key belongs to one account. */
export class SigningKeys implements Directory {
  readonly tables = ["signing_keys"] as const;
  readonly #options: SigningKeysOptions;
  readonly #byFingerprint = new Map<string, HeldKey>();
  #version = 0;

  private constructor(options: SigningKeysOptions) {
    this.#options = options;
    options.accounts.onChanged((id, account) => {
      if (account === null) this.#dropAllOf(id);
      this.#version++;
    });
  }

  /** Reads all keys from the database. */
  static async open(options: SigningKeysOptions): Promise<SigningKeys> {
    const keys = new SigningKeys(options);
    await options.database.keepCurrent(keys);
    return keys;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("signing_keys")
      .select(["id", "account_id", "fingerprint"]).execute();
    this.#byFingerprint.clear();
    for (const { id, account_id: accountId, fingerprint } of rows) {
      this.#byFingerprint.set(fingerprint, { id, accountId });
    }
    this.#version++;
  }

  /** Changes whenever {@link ownerOf} may answer otherwise. */
  get version(): number {
    return this.#version;
  }

  /** The name of the account with a key; null if there is none, or it is revoked. */
  ownerOf(fingerprint: string): string | null {
    const held = this.#byFingerprint.get(fingerprint);
    const account = held === undefined ? null : this.#options.accounts.get(held.accountId);
    return account === null || account.revokedAt !== null ? null : account.name;
  }

  /**
   * The keys of an account, oldest first.
   *
   * @param ownerId its internal id; null for those of all accounts
   */
  async list(ownerId: string | null): Promise<SigningKey[]> {
    const rows = await this.#options.database.tables.selectFrom("signing_keys")
      .innerJoin("accounts", "accounts.id", "signing_keys.account_id")
      .select([
        "signing_keys.id",
        "accounts.name as owner",
        "signing_keys.name",
        "fingerprint",
        "public_key",
        "signing_keys.created_at",
      ])
      .$if(ownerId !== null, (query) => query.where("account_id", "=", ownerId ?? ""))
      .orderBy("signing_keys.id").execute();
    return rows.map(({ public_key: key, created_at, ...row }) => ({
      ...row,
      key,
      created_at: isoOf(created_at),
    }));
  }

  /** @throws Conflict if an account has the key, or the owner has too many */
  async add({ owner, name, fingerprint, key }: NewSigningKey, caller: Caller): Promise<SigningKey> {
    const { database, accounts, clock } = this.#options;
    if (owner.revokedAt !== null) throw new Conflict(`"${owner.name}" is revoked`);
    const own = [...this.#byFingerprint.values()].filter((held) => held.accountId === owner.id);
    if (own.length >= MOST_KEYS) {
      throw new Conflict(`"${owner.name}" has ${own.length} keys: remove one that is not used`);
    }
    const now = clock();
    const id = newUlid(now);
    const insertion = database.tables.insertInto("signing_keys").values({
      id,
      account_id: owner.id,
      fingerprint,
      name,
      public_key: key,
      created_at: now,
    });
    const data = { id, name, owner: owner.name, fingerprint };
    try {
      await database.commit({
        statements: [
          accounts.guard(owner),
          statement(insertion, {
            committed: () => {
              this.#byFingerprint.set(fingerprint, { id, accountId: owner.id });
              this.#version++;
            },
          }),
        ],
        events: [newEvent("signing_key.added", data, originOf(caller), now)],
      });
    } catch (error) {
      if (error instanceof Duplicate) {
        throw new Conflict(
          `An account has the key ${fingerprint}; if it is not yours, ask the operator to remove it`,
        );
      }
      throw error instanceof Unchanged
        ? new Conflict(`The account "${owner.name}" has just been removed`)
        : error;
    }
    return { id, owner: owner.name, name, fingerprint, key, created_at: isoOf(now) };
  }

  /**
   * Removes a key: what it has signed is unknown from now on.
   *
   * @param ownerId only if it belongs to this account; null for any
   * @throws NotFound
   */
  async remove(id: string, ownerId: string | null, caller: Caller): Promise<void> {
    const { database, clock } = this.#options;
    const row = await database.tables.selectFrom("signing_keys")
      .select(["account_id", "name", "fingerprint"]).where("id", "=", id).executeTakeFirst();
    if (row === undefined || (ownerId !== null && row.account_id !== ownerId)) throw noSuchKey(id);
    const { name, fingerprint } = row;
    const removal = database.tables.deleteFrom("signing_keys").where("id", "=", id);
    const data = { id, name, fingerprint };
    try {
      await database.commit({
        statements: [
          statement(removal, {
            mustChange: true,
            committed: () => {
              this.#byFingerprint.delete(fingerprint);
              this.#version++;
            },
          }),
        ],
        events: [newEvent("signing_key.removed", data, originOf(caller), clock())],
      });
    } catch (error) {
      throw error instanceof Unchanged ? noSuchKey(id) : error;
    }
  }

  /** The rows of an account go with it. */
  #dropAllOf(accountId: string): void {
    for (const [fingerprint, held] of this.#byFingerprint) {
      if (held.accountId === accountId) this.#byFingerprint.delete(fingerprint);
    }
  }
}

function noSuchKey(id: string): NotFound {
  return new NotFound(`There is no signing key "${id}"`);
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
