import { type Database, Duplicate, Unchanged } from "../../engines/database/mod.ts";
import { Conflict, Invalid, NotFound } from "../../kernel/errors.ts";
import { newEvent, type Origin } from "../../engines/events/mod.ts";
import {
  type Account,
  type AccountDirectory,
  type Caller,
  nameTaken,
  originOf,
  passwordJustChanged,
  type Passwords,
  type Revocations,
  type ScramVerifiers,
  type WebSessions,
} from "../identity/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { Provisioning, Sessions } from "./provisioning.ts";
import type { PersonRequest } from "./schemas.ts";

/** The IRC account of a person. */
export interface IrcAccount {
  readonly account: string;
  /** ISO 8601. */
  readonly created_at: string;
}

/** A new account, with the URL that its owner connects to. */
export interface NewIrcAccount extends IrcAccount {
  /** `irc://host:port`, or `ircs://host:port`. */
  readonly server: string;
}

export interface IrcAccountsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly passwords: Passwords;
  readonly scram: ScramVerifiers;
  readonly revocations: Revocations;
  readonly provisioning: Provisioning;
  readonly sessions: Pick<Sessions, "disconnectAccount">;
  readonly webSessions: Pick<WebSessions, "endingAllOf">;
  /** The URL of the IRC server, for people. */
  readonly serverAddress: () => string;
  /** Characters. */
  readonly minPasswordLength: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** The IRC accounts of people. */
export class IrcAccounts {
  readonly #options: IrcAccountsOptions;

  constructor(options: IrcAccountsOptions) {
    this.#options = options;
  }

  /** The shortest password that a person may have, in characters. */
  get minPasswordLength(): number {
    return this.#options.minPasswordLength;
  }

  /** Every account of a person, by name. */
  async list(): Promise<IrcAccount[]> {
    const rows = await this.#options.database.tables.selectFrom("accounts")
      .select(["name", "created_at"]).where("kind", "=", "person")
      .orderBy("name_folded").execute();
    return rows.map((row) => describe(row.name, row.created_at));
  }

  /**
   * Creates an account.
   *
   * @throws Invalid if the password is too short, Conflict if the name is taken or reserved
   * @throws Unavailable if too many passwords wait to be hashed, or IRC is away
   */
  create(request: PersonRequest, caller: Caller): Promise<NewIrcAccount> {
    return this.#insert(request, () => originOf(caller), caller);
  }

  /**
   * Creates an account for the person who asks for it. The event names that person as the actor.
   *
   * @param address the person's IP address
   * @throws Invalid, Conflict, Unavailable like {@link create}
   */
  register(request: PersonRequest, address: string): Promise<NewIrcAccount> {
    const actor = `person:${request.account}`;
    return this.#insert(request, (actorId) => ({ actor, actorId, address, cause: null }));
  }

  async #insert(
    { account: name, password }: PersonRequest,
    originFor: (id: string) => Origin,
    caller: Caller | null = null,
  ): Promise<NewIrcAccount> {
    const { database, accounts, passwords, scram, provisioning, clock } = this.#options;
    this.#assertLongEnough(password);
    accounts.assertFree(name);
    const secret = { scheme: "argon2id", value: await passwords.hash(password) } as const;
    const now = clock();
    const id = newUlid(now);
    const keeping = await scram.keeping(id, secret, password);
    using change = await provisioning.register({ id, name }, password);
    await caller?.confirm?.();
    await database.commit({
      statements: [
        accounts.insertion({ id, name, kind: "person", secret, createdAt: now }),
        keeping,
        ...change.statements,
      ],
      events: [newEvent("account.created", { account: name }, originFor(id), now)],
    }).catch((error: unknown) => {
      throw error instanceof Duplicate ? nameTaken(name) : error;
    });
    change.settle();
    return { ...describe(name, now), server: this.#options.serverAddress() };
  }

  #assertLongEnough(password: string): void {
    const { minPasswordLength } = this.#options;
    if (password.length >= minPasswordLength) return;
    throw new Invalid(`"password" must have at least ${minPasswordLength} characters`);
  }

  /**
   * Changes an account's password for its owner.
   *
   * @param account its state when its password was checked
   * @param address the owner's IP address
   * @throws Invalid if the password is too short
   * @throws NotFound if the account has ended meanwhile, Conflict if its password has been changed
   * @throws Unavailable if too many passwords wait to be hashed
   */
  changePassword(account: Account, password: string, address: string): Promise<void> {
    const { id: actorId, name } = account;
    return this.#replacePassword(account, password, {
      actor: `person:${name}`,
      actorId,
      address,
      cause: null,
    });
  }

  /**
   * Changes an account's password and closes its sessions.
   *
   * @param checked the account whose password the caller proved; by default, the present one
   * @throws Invalid if the password is too short, NotFound if no person has such an account
   * @throws Conflict if passwords are the network's, or another change of the password came first
   * @throws Unavailable if too many passwords wait to be hashed
   */
  async setPassword(
    name: string,
    password: string,
    caller: Caller,
    checked?: Account | null,
  ): Promise<void> {
    const { accounts, sessions, provisioning } = this.#options;
    const account = checked ?? accounts.named(name);
    if (account?.kind !== "person") throw noSuchAccount(name);
    if (!provisioning.ownsPasswords) throw new Conflict("Passwords are changed on the IRC network");
    await this.#replacePassword(account, password, originOf(caller), caller);
    sessions.disconnectAccount(account.name, "Password changed");
  }

  async #replacePassword(
    account: Account,
    password: string,
    origin: Origin,
    caller: Caller | null = null,
  ): Promise<void> {
    const { database, accounts, passwords, scram, revocations, webSessions, clock } = this.#options;
    this.#assertLongEnough(password);
    const secret = { scheme: "argon2id", value: await passwords.hash(password) } as const;
    const { id, name } = account;
    const keeping = await scram.keeping(id, secret, password);
    await caller?.confirm?.();
    await database.commit({
      statements: [
        accounts.guardPassword(account),
        accounts.newSecret(account, secret),
        webSessions.endingAllOf(id),
        keeping,
      ],
      events: [newEvent("account.password_changed", { account: name }, origin, clock())],
    }).catch((error: unknown) => {
      if (!(error instanceof Unchanged)) throw error;
      throw accounts.get(id) === null ? noSuchAccount(name) : passwordJustChanged();
    });
    revocations.announce({ kind: "password", accountId: id });
  }

  /**
   * Removes an account and closes its sessions.
   *
   * @throws NotFound if no person has an account of this name, Unavailable if IRC is away
   */
  async delete(name: string, caller: Caller): Promise<void> {
    const { database, accounts, revocations, provisioning, clock } = this.#options;
    const account = accounts.named(name);
    if (account?.kind !== "person") throw noSuchAccount(name);
    const event = newEvent("account.deleted", { account: account.name }, originOf(caller), clock());
    using change = await provisioning.remove(account, "Account deleted");
    await database.commit({
      statements: [accounts.removal(account), ...change.statements],
      events: [event],
    }).catch((error: unknown) => {
      throw error instanceof Unchanged ? noSuchAccount(name) : error;
    });
    revocations.announce({ kind: "account", accountId: account.id });
    change.settle();
  }
}

function describe(account: string, createdAt: number): IrcAccount {
  return { account, created_at: new Date(createdAt).toISOString() };
}

function noSuchAccount(name: string): NotFound {
  return new NotFound(`There is no IRC account "${name}"`);
}
