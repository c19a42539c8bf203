import type { Compilable, Selectable, Updateable } from "kysely";
import {
  type Database,
  type Directory,
  statement,
  type Tables,
} from "../../engines/database/mod.ts";
import { Conflict } from "../../kernel/errors.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { isCommonName, type ReservedNames } from "./names.ts";
import type { Revocations } from "./revocations.ts";
import { newSecret, sha256 } from "./secrets.ts";

/** Agents and people log in to IRC, admins to the web pages too. All share one namespace. */
export type AccountKind = "agent" | "person" | "admin";

/**
 * The hash of an account's secret: SHA-256 if muster made the secret, argon2id if a person chose
 * it.
 */
export interface Secret {
  readonly scheme: "sha256" | "argon2id";
  readonly value: string;
}

/** A further name of an agent, for one of its sessions. Nobody logs in with it. */
export interface SessionName {
  /** An internal id of its own, to which messages belong. */
  readonly id: string;
  readonly name: string;
  /** The internal id of the agent. */
  readonly agentId: string;
}

/** An account: a name that can log in. */
export interface Account {
  /**
   * Everything that belongs to the account refers to this id; a later owner of the name has
   * another.
   */
  readonly id: string;
  readonly name: string;
  readonly kind: AccountKind;
  readonly secret: Secret;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** When it was revoked, in Unix milliseconds, or null. */
  readonly revokedAt: number | null;
}

export interface AccountDirectoryOptions {
  readonly database: Database;
  readonly reserved: ReservedNames;
  /** The kinds of account that are switched off: they keep their names but cannot log in. */
  readonly disabled: ReadonlySet<AccountKind>;
  /** Is told what other programs have ended. */
  readonly revocations: Pick<Revocations, "announce">;
}

/**
 * Called when an account was changed.
 *
 * @param account as it is now; null if it was removed
 */
export type AccountListener = (id: string, account: Account | null) => void;

/**
 * The single, case-insensitive namespace of all accounts and of the sessions of agents, held in
 * memory. Only its statements change accounts; each updates the directory once its transaction is on
 * disk.
 */
export class AccountDirectory implements Directory {
  readonly tables = ["accounts"] as const;
  readonly #database: Database;
  readonly #reserved: ReservedNames;
  readonly #disabled: ReadonlySet<AccountKind>;
  readonly #revocations: AccountDirectoryOptions["revocations"];
  readonly #byId = new Map<string, Account>();
  readonly #byName = new Map<string, Account>();
  readonly #sessions = new Map<string, SessionName>();
  readonly #listeners: AccountListener[] = [];
  /** The accounts before the last load. */
  #replaced: ReadonlyMap<string, Account> = new Map();
  readonly #counts: Record<AccountKind, { active: number; total: number }> = {
    agent: { active: 0, total: 0 },
    person: { active: 0, total: 0 },
    admin: { active: 0, total: 0 },
  };

  private constructor(options: AccountDirectoryOptions) {
    this.#database = options.database;
    this.#reserved = options.reserved;
    this.#disabled = options.disabled;
    this.#revocations = options.revocations;
  }

  /** Reads all accounts from the database. */
  static async open(options: AccountDirectoryOptions): Promise<AccountDirectory> {
    const directory = new AccountDirectory(options);
    await options.database.keepCurrent(directory);
    return directory;
  }

  async load(): Promise<void> {
    const rows = await this.#database.tables.selectFrom("accounts").selectAll().execute();
    this.#replaced = new Map(this.#byId);
    for (const account of this.#replaced.values()) this.#forget(account);
    this.#sessions.clear();
    for (const row of rows) {
      if (row.agent_id === null) this.#put(accountOf(row));
      else this.#addSession({ id: row.id, name: row.name, agentId: row.agent_id });
    }
  }

  announce(): void {
    const before = this.#replaced;
    this.#replaced = new Map();
    for (const [id, account] of before) this.#compare(account, this.get(id));
    for (const [id, account] of this.#byId) {
      if (!before.has(id)) this.#tell(id, account);
    }
  }

  /**
   * The account of this name, revoked ones included, or null. The name of a session stands for its
   * agent, so that what is said about one holds for all.
   */
  find(name: string): Account | null {
    const session = this.session(name);
    return session === null ? this.named(name) : this.get(session.agentId);
  }

  /** The same for what logs in, or is changed, removed and revoked: the name of a session is none. */
  named(name: string): Account | null {
    return this.#byName.get(foldCase(name)) ?? null;
  }

  /** The session of an agent that has this name, live or not, or null. */
  session(name: string): SessionName | null {
    return this.#sessions.get(foldCase(name)) ?? null;
  }

  /** The name with this internal id, of an account or of a session, or null. */
  nameOf(id: string): string | null {
    const account = this.get(id);
    if (account !== null) return account.name;
    for (const session of this.#sessions.values()) if (session.id === id) return session.name;
    return null;
  }

  /** The account of this internal id, revoked ones included, or null. */
  get(id: string): Account | null {
    return this.#byId.get(id) ?? null;
  }

  /** The number of accounts of a kind, and of those that are not revoked. */
  counts(kind: AccountKind): { readonly active: number; readonly total: number } {
    return this.#counts[kind];
  }

  /** The accounts of some kinds that are not revoked, by name. */
  list(...kinds: readonly AccountKind[]): Account[] {
    const isListed = ({ kind, revokedAt }: Account) => revokedAt === null && kinds.includes(kind);
    return [...this.#byName].filter(([, account]) => isListed(account))
      .sort(([one], [other]) => one < other ? -1 : 1).map(([, account]) => account);
  }

  /** Their names. */
  names(...kinds: readonly AccountKind[]): string[] {
    return this.list(...kinds).map(({ name }) => name);
  }

  /** Calls a listener after each change of an account, as long as the directory exists. */
  onChanged(listener: AccountListener): void {
    this.#listeners.push(listener);
  }

  /** Whether accounts of this kind can log in. */
  isEnabled(kind: AccountKind): boolean {
    return !this.#disabled.has(kind);
  }

  isReserved(name: string): boolean {
    return this.#reserved.has(foldCase(name));
  }

  /** Whether no new account may have a name. Some of these names stay free as nicks of guests. */
  isRefused(name: string): boolean {
    return this.isReserved(name) || isCommonName(name);
  }

  /** @throws Conflict if the name is refused or taken */
  assertFree(name: string): void {
    if (this.isRefused(name)) {
      throw new Conflict(`The name "${name}" is reserved`);
    }
    const session = this.session(name);
    if (session !== null) {
      const agent = this.get(session.agentId)?.name ?? "an agent";
      throw new Conflict(`The name "${session.name}" is taken by a session of "${agent}"`);
    }
    if (this.named(name) !== null) throw nameTaken(name);
  }

  /** The statement that adds an account; its transaction fails as `Duplicate` if it is there. */
  insertion({ id, name, kind, secret, createdAt }: Omit<Account, "revokedAt">) {
    const account: Account = { id, name, kind, secret, createdAt, revokedAt: null };
    return statement(
      this.#database.tables.insertInto("accounts").values({
        id,
        name,
        name_folded: foldCase(name),
        kind,
        secret_scheme: secret.scheme,
        secret: secret.value,
        created_at: createdAt,
        revoked_at: null,
        agent_id: null,
      }),
      { committed: () => this.#changed(account) },
    );
  }

  /**
   * The statement that gives an agent one more name, for its sessions. Its transaction fails as
   * `Duplicate` if somebody has the name.
   *
   * @param now Unix milliseconds
   */
  sessionInsertion(session: SessionName, now: number) {
    const { id, name, agentId } = session;
    return statement(
      this.#database.tables.insertInto("accounts").values({
        id,
        name,
        name_folded: foldCase(name),
        kind: "agent",
        agent_id: agentId,
        // Nobody knows the secret, so nobody logs in.
        secret_scheme: "sha256",
        secret: sha256(newSecret()),
        created_at: now,
        revoked_at: null,
      }),
      { committed: () => this.#addSession(session) },
    );
  }

  /** A statement that changes nothing, and rolls back its transaction if the account has ended. */
  guard({ id }: Pick<Account, "id">) {
    return statement(this.#untouched(id), { mustChange: true });
  }

  /** Like {@link guard}, but also rolls back if the account's password has changed. */
  guardPassword({ id, secret }: Account) {
    const update = this.#untouched(id).where("secret", "=", secret.value);
    return statement(update, { mustChange: true });
  }

  /**
   * The statement that gives an account another secret. It rolls back its transaction if the
   * account is revoked, removed or of another kind, unless `mustChange` is false.
   */
  newSecret({ id, kind }: Pick<Account, "id" | "kind">, secret: Secret, mustChange = true) {
    const columns = { secret_scheme: secret.scheme, secret: secret.value };
    const update = this.#living(id, columns).where("kind", "=", kind);
    return this.#update(update, id, { secret }, mustChange);
  }

  /** The statement that turns a person's account into an agent's. */
  adoption(id: string) {
    const update = this.#database.tables.updateTable("accounts").set({ kind: "agent" })
      .where("id", "=", id).where("kind", "=", "person");
    return this.#update(update, id, { kind: "agent" });
  }

  /**
   * The statement that revokes an account.
   *
   * @param now Unix milliseconds
   */
  revocation(id: string, now: number) {
    return this.#update(this.#living(id, { revoked_at: now }), id, { revokedAt: now });
  }

  /**
   * The statement that removes an account with everything that belongs to it.
   *
   * @param options `notLast` rolls back the transaction if no other account of its kind is left
   */
  removal({ id, kind }: Pick<Account, "id" | "kind">, options: { notLast?: boolean } = {}) {
    const { tables } = this.#database;
    const removal = tables.deleteFrom("accounts").where("id", "=", id).where("kind", "=", kind);
    const others = tables.selectFrom("accounts as others").select("others.id")
      .where("others.kind", "=", kind).where("others.id", "!=", id);
    const query = options.notLast === true
      ? removal.where(({ exists }) => exists(others))
      : removal;
    return statement(query, { mustChange: true, committed: () => this.#removed(id) });
  }

  #untouched(id: string) {
    return this.#living(id, { revoked_at: null });
  }

  #living(id: string, columns: Updateable<Tables["accounts"]>) {
    return this.#database.tables.updateTable("accounts").set(columns)
      .where("id", "=", id).where("revoked_at", "is", null);
  }

  #update(query: Compilable, id: string, change: Partial<Account>, mustChange = true) {
    return statement(query, {
      mustChange,
      committed: (changes) => {
        const account = this.#byId.get(id);
        if (changes > 0 && account !== undefined) this.#changed({ ...account, ...change });
      },
    });
  }

  #changed(account: Account): void {
    this.#put(account);
    this.#tell(account.id, account);
  }

  #tell(id: string, account: Account | null): void {
    for (const listener of this.#listeners) listener(id, account);
  }

  /** Tells what another program has made of an account. */
  #compare(before: Account, now: Account | null): void {
    const { id: accountId } = before;
    if (now !== null && isSame(before, now)) return;
    this.#tell(accountId, now);
    if (now === null || (now.revokedAt !== null && before.revokedAt === null)) {
      this.#revocations.announce({ kind: "account", accountId });
    } else if (now.secret.value !== before.secret.value) {
      this.#revocations.announce({ kind: "password", accountId });
    }
  }

  #removed(id: string): void {
    const account = this.#byId.get(id);
    if (account === undefined) return;
    this.#forget(account);
    for (const [folded, { agentId }] of this.#sessions) {
      if (agentId === id) this.#sessions.delete(folded);
    }
    this.#tell(id, null);
  }

  #addSession(session: SessionName): void {
    this.#sessions.set(foldCase(session.name), session);
  }

  #put(account: Account): void {
    const replaced = this.#byId.get(account.id);
    if (replaced !== undefined) this.#forget(replaced);
    this.#count(account, 1);
    this.#byId.set(account.id, account);
    this.#byName.set(foldCase(account.name), account);
  }

  #forget(account: Account): void {
    this.#count(account, -1);
    this.#byId.delete(account.id);
    this.#byName.delete(foldCase(account.name));
  }

  #count({ kind, revokedAt }: Account, change: 1 | -1): void {
    const counts = this.#counts[kind];
    counts.total += change;
    if (revokedAt === null) counts.active += change;
  }
}

/** Whether two accounts with the same id are equal in all that changes. */
function isSame(one: Account, other: Account): boolean {
  return one.kind === other.kind && one.revokedAt === other.revokedAt &&
    one.secret.value === other.secret.value;
}

function accountOf(row: Selectable<Tables["accounts"]>): Account {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    secret: { scheme: row.secret_scheme, value: row.secret },
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}

/** The error for a name that is taken. */
export function nameTaken(name: string): Conflict {
  return new Conflict(`The name "${name}" is taken`);
}

/** The error for a change of a password that another change overtook. */
export function passwordJustChanged(): Conflict {
  return new Conflict("The password has just been changed");
}
