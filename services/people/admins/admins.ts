import type { Sessions } from "../agents/mod.ts";
import { type Change, type Database, Duplicate, Unchanged } from "../../engines/database/mod.ts";
import { Conflict, NotFound, type ServiceError } from "../../kernel/errors.ts";
import { newEvent, type Origin, SYSTEM } from "../../engines/events/mod.ts";
import {
  type Account,
  type AccountDirectory,
  type Caller,
  nameTaken,
  newSecret,
  originOf,
  passwordJustChanged,
  type Passwords,
  type Revocations,
  type Secret,
  sha256,
  type WebSessions,
} from "../identity/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { AdminRequest } from "./schemas.ts";

/** An admin, for callers. */
export interface Admin {
  readonly username: string;
  /** ISO 8601. */
  readonly created_at: string;
}

/** The admin that the first start creates, with its password, shown once. */
export interface FirstAdmin {
  readonly username: string;
  readonly password: string;
}

export interface AdminsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly passwords: Passwords;
  readonly webSessions: Pick<WebSessions, "endingAllOf">;
  readonly revocations: Revocations;
  /** The sessions on IRC. */
  readonly sessions: Sessions;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** The name of the admin that the first start creates. */
const FIRST_NAME = "admin";

/** The accounts of admins. There is always at least one. */
export class Admins {
  readonly #options: AdminsOptions;

  constructor(options: AdminsOptions) {
    this.#options = options;
  }

  /** Every admin, by name. */
  async list(): Promise<Admin[]> {
    const rows = await this.#options.database.tables.selectFrom("accounts")
      .select(["name", "created_at"]).where("kind", "=", "admin")
      .orderBy("name_folded").execute();
    return rows.map(({ name, created_at }) => ({
      username: name,
      created_at: new Date(created_at).toISOString(),
    }));
  }

  /**
   * Creates the first admin, with a random password.
   *
   * @returns null if there is an admin already
   * @throws Conflict if another kind of account has the admin's name
   */
  async createFirst(): Promise<FirstAdmin | null> {
    if ((await this.list()).length > 0) return null;
    const password = newSecret();
    await this.#insert(FIRST_NAME, { scheme: "sha256", value: sha256(password) }, SYSTEM);
    return { username: FIRST_NAME, password };
  }

  /**
   * Creates an admin.
   *
   * @throws Conflict if the name is taken or reserved
   * @throws Unavailable if too many passwords wait to be hashed
   */
  async create({ username, password }: AdminRequest, caller: Caller): Promise<void> {
    const { accounts, passwords } = this.#options;
    accounts.assertFree(username);
    const secret = { scheme: "argon2id", value: await passwords.hash(password) } as const;
    await caller.confirm?.();
    await this.#insert(username, secret, originOf(caller));
  }

  /**
   * Replaces an admin's password, and ends every session that began with the old one.
   *
   * @param checked the account whose password the caller proved; by default, the present one
   * @throws NotFound, or Conflict if another change of the password came first
   * @throws Unavailable if too many passwords wait to be hashed
   */
  async setPassword(
    username: string,
    password: string,
    caller: Caller,
    checked?: Account | null,
  ): Promise<void> {
    const { accounts, passwords, webSessions, revocations, sessions } = this.#options;
    const account = checked ?? this.#find(username);
    const { id, name } = account;
    const secret = { scheme: "argon2id", value: await passwords.hash(password) } as const;
    await caller.confirm?.();
    const change = {
      statements: [
        accounts.guardPassword(account),
        accounts.newSecret(account, secret),
        webSessions.endingAllOf(id),
      ],
      events: [this.#event("admin.password_changed", name, originOf(caller))],
    };
    await this.#commit(change, () => {
      this.#find(username);
      return passwordJustChanged();
    });
    revocations.announce({ kind: "password", accountId: id });
    sessions.disconnectAccount(name, "Password changed");
  }

  /**
   * Removes an admin with its sessions and tokens.
   *
   * @throws NotFound, or Conflict if there is no other admin
   */
  async delete(username: string, caller: Caller): Promise<void> {
    const { accounts, revocations, sessions } = this.#options;
    const account = this.#find(username);
    const { id, name } = account;
    const change = {
      statements: [accounts.removal(account, { notLast: true })],
      events: [this.#event("admin.deleted", name, originOf(caller))],
    };
    await this.#commit(change, () => {
      this.#find(username);
      return new Conflict(`"${name}" is the last admin and cannot be removed`);
    });
    revocations.announce({ kind: "account", accountId: id });
    sessions.disconnectAccount(name, "Admin removed");
    sessions.forgetAccount(name);
  }

  async #insert(name: string, secret: Secret, origin: Origin): Promise<void> {
    const { database, accounts, sessions, clock } = this.#options;
    const createdAt = clock();
    try {
      await database.commit({
        statements: [
          accounts.insertion({ id: newUlid(createdAt), name, kind: "admin", secret, createdAt }),
        ],
        events: [this.#event("admin.created", name, origin)],
      });
    } catch (error) {
      throw error instanceof Duplicate ? nameTaken(name) : error;
    }
    sessions.freeNick(name);
  }

  /** Commits a change of an admin; if it changes nothing, the error says why. */
  async #commit(change: Change, refusal: () => ServiceError): Promise<void> {
    try {
      await this.#options.database.commit(change);
    } catch (error) {
      throw error instanceof Unchanged ? refusal() : error;
    }
  }

  #find(username: string): Account {
    const account = this.#options.accounts.named(username);
    if (account?.kind !== "admin") throw new NotFound(`There is no admin "${username}"`);
    return account;
  }

  #event(
    type: "admin.created" | "admin.deleted" | "admin.password_changed",
    username: string,
    origin: Origin,
  ) {
    return newEvent(type, { username }, origin, this.#options.clock());
  }
}

/** Why there are no admins, if the configuration turns them off. */
export const NO_ADMINS = "There are no admins: admins.enabled is false in the configuration";
