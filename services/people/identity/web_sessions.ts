import {
  type Database,
  type Directory,
  type Statement,
  statement,
  Unchanged,
} from "../../engines/database/mod.ts";
import { NotFound, Unauthorized } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { Account, AccountDirectory } from "./accounts.ts";
import { DeferredTimes } from "./deferred_times.ts";
import type { Expiries, Revocations } from "./revocations.ts";
import { type Caller, originOf, type Principal, type Scope } from "./principal.ts";
import { newSecret, sameDigest, sha256 } from "./secrets.ts";

/** How long a session lasts after its last use, in seconds. */
export const SESSION_SECONDS = 12 * 60 * 60;

const LIFETIME = SESSION_SECONDS * 1000;

/**
 * How old the recorded last use must be before another use extends the session, in milliseconds.
 */
const RENEWAL = 60_000;

/** How late a use may be written to the database, in milliseconds. */
const WRITING_DELAY = 10 * 60_000;

/** Most sessions of one admin; one more ends the oldest. */
const MAX_PER_ACCOUNT = 20;

const FORM = /^[0-9a-f]{64}$/;

/** A session has every scope; what it opens depends on its owner's role in each project. */
const SESSION_SCOPES: ReadonlySet<Scope> = new Set(["read", "write", "admin"]);

/** A session of an admin or a person on the web pages. */
export interface WebSession {
  readonly principal: Principal;
  /** The content of the cookie. */
  readonly secret: string;
  /** Required, beside the cookie, in requests that change something. */
  readonly csrfToken: string;
  /** Unix milliseconds; later after each use. */
  readonly expiresAt: number;
  /** Whether this use extends it, so that the cookie must be set again. */
  readonly renewed: boolean;
}

export interface WebSessionsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly revocations: Revocations;
  readonly expiries: Expiries;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

/** A session in memory. */
interface HeldSession {
  readonly id: string;
  readonly accountId: string;
  readonly secretHash: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** As stored in the database, in Unix milliseconds. */
  lastUsed: number;
}

/** What an account is shown of one of its sessions. */
export interface ListedSession {
  readonly id: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds; exact to a minute. */
  readonly lastUsed: number;
}

/** A session that has not ended. */
interface ValidSession {
  readonly held: HeldSession;
  readonly account: Account;
  /** Unix milliseconds. */
  readonly lastUsed: number;
}

/**
 * The sessions of admins and people on the web pages. The database stores the hash of the cookie, so that
 * sessions survive a restart and a stolen database opens none.
 */
export class WebSessions implements Directory {
  readonly tables = ["web_sessions"] as const;
  readonly #database: Database;
  readonly #accounts: AccountDirectory;
  readonly #revocations: Revocations;
  readonly #expiries: Expiries;
  readonly #clock: () => number;
  readonly #lastUsed: DeferredTimes;
  readonly #byId = new Map<string, HeldSession>();
  readonly #byHash = new Map<string, HeldSession>();
  /** The sessions before the last load. */
  #replaced: readonly HeldSession[] = [];

  constructor(options: WebSessionsOptions) {
    this.#database = options.database;
    this.#accounts = options.accounts;
    this.#revocations = options.revocations;
    this.#expiries = options.expiries;
    this.#clock = options.clock;
    this.#lastUsed = new DeferredTimes({
      write: (times) => this.#writeLastUsed(times),
      log: options.log,
    });
  }

  /** Reads the sessions from the database. */
  static async open(options: WebSessionsOptions): Promise<WebSessions> {
    const sessions = new WebSessions(options);
    await options.database.keepCurrent(sessions);
    options.accounts.onChanged((id, account) => {
      if (account === null) sessions.#drop(({ accountId }) => accountId === id);
    });
    return sessions;
  }

  async load(): Promise<void> {
    const rows = await this.#database.tables.selectFrom("web_sessions").selectAll().execute();
    this.#replaced = [...this.#byId.values()];
    this.#byId.clear();
    this.#byHash.clear();
    for (const row of rows) {
      this.#hold({
        id: row.id,
        accountId: row.account_id,
        secretHash: row.secret_hash,
        createdAt: row.created_at,
        lastUsed: row.last_used,
      });
    }
  }

  announce(): void {
    for (const { id, accountId } of this.#replaced) {
      if (!this.#byId.has(id)) this.#ended(accountId, id);
    }
    this.#replaced = [];
  }

  /**
   * Starts a session for an admin or a person whose password has just been checked.
   *
   * @throws Unauthorized if the account or the password was changed meanwhile
   */
  async open(account: Account, from: Omit<Caller, "principal">): Promise<WebSession> {
    const { tables } = this.#database;
    const now = this.#clock();
    const id = newUlid(now);
    const secret = newSecret();
    const surplus = [...this.#byId.values()].filter(({ accountId }) => accountId === account.id)
      .sort((one, other) => one.id < other.id ? 1 : -1).slice(MAX_PER_ACCOUNT - 1);
    const session = this.#describe(id, account, secret, now);
    const origin = originOf({ ...from, principal: session.principal });
    const secretHash = sha256(secret);
    const held = { id, accountId: account.id, secretHash, createdAt: now, lastUsed: now };
    const over = now - LIFETIME - WRITING_DELAY;
    try {
      await this.#database.commit({
        statements: [
          this.#accounts.guardPassword(account),
          statement(tables.deleteFrom("web_sessions").where("last_used", "<", over), {
            committed: () => this.#drop(({ lastUsed }) => lastUsed < over),
          }),
          ...surplus.map((old) => this.#removal(old.id)),
          this.#insertion(held),
        ],
        events: [newEvent(`${noun(session)}.logged_in`, { username: account.name }, origin, now)],
      });
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      throw new Unauthorized("The password has just been changed");
    }
    for (const old of surplus) this.#ended(account.id, old.id);
    return session;
  }

  /**
   * Finds the session of a cookie, and counts this as a use of the session.
   *
   * @returns null if there is no such session or it has expired
   */
  find(secret: string): WebSession | null {
    const valid = this.#validOf(secret);
    if (valid === null) return null;
    const { held: { id }, account, lastUsed } = valid;
    const now = this.#clock();
    const renewed = now - lastUsed >= RENEWAL;
    if (renewed) this.#lastUsed.set(id, now);
    return { ...this.#describe(id, account, secret, renewed ? now : lastUsed), renewed };
  }

  /** Whose session a cookie is of, or null. This is no use of the session, and opens nothing. */
  recognize(secret: string): Principal | null {
    const valid = this.#validOf(secret);
    if (valid === null) return null;
    return this.#describe(valid.held.id, valid.account, secret, valid.lastUsed).principal;
  }

  #validOf(secret: string): ValidSession | null {
    if (!FORM.test(secret)) return null;
    const held = this.#byHash.get(sha256(secret));
    const account = held === undefined ? null : this.#accounts.get(held.accountId);
    if (held === undefined || account === null || account.revokedAt !== null) return null;
    if (account.kind === "agent" || !this.#accounts.isEnabled(account.kind)) return null;
    const lastUsed = this.#lastUsedOf(held);
    return this.#clock() < lastUsed + LIFETIME ? { held, account, lastUsed } : null;
  }

  /** The sessions of an account, the one that was used last first. */
  list(accountId: string): ListedSession[] {
    return [...this.#byId.values()].filter((held) => held.accountId === accountId)
      .map((held) => ({
        id: held.id,
        createdAt: held.createdAt,
        lastUsed: this.#lastUsedOf(held),
      }))
      .filter(({ lastUsed }) => this.#clock() < lastUsed + LIFETIME)
      .sort((one, other) => other.lastUsed - one.lastUsed || (one.id < other.id ? 1 : -1));
  }

  /** Ends the caller's session. */
  async close(caller: Caller): Promise<void> {
    const { id: accountId, sessionId } = caller.principal;
    if (accountId !== null && sessionId !== null) await this.#end(accountId, sessionId, caller);
  }

  /**
   * Ends a session of the caller's account.
   *
   * @throws NotFound if the account has no such session
   */
  async end(sessionId: string, caller: Caller): Promise<void> {
    const { id: accountId } = caller.principal;
    const held = this.#byId.get(sessionId);
    if (accountId === null || held?.accountId !== accountId) {
      throw new NotFound("This session has ended already");
    }
    await this.#end(accountId, sessionId, caller);
  }

  async #end(accountId: string, sessionId: string, caller: Caller): Promise<void> {
    const { name } = caller.principal;
    const data = { username: name };
    await this.#database.commit({
      statements: [this.#removal(sessionId)],
      events: [
        newEvent(`${noun(caller)}.logged_out`, data, originOf(caller), this.#clock()),
      ],
    });
    this.#ended(accountId, sessionId);
  }

  #lastUsedOf({ id, lastUsed }: HeldSession): number {
    return this.#lastUsed.latest(id, null) ?? lastUsed;
  }

  /** Writes when the sessions were last used. Call it before the database is closed. */
  async flush(): Promise<void> {
    await this.#lastUsed.flush();
  }

  /** The statement that ends every session of an account. */
  endingAllOf(accountId: string): Statement {
    const removal = this.#database.tables.deleteFrom("web_sessions")
      .where("account_id", "=", accountId);
    const committed = () => this.#drop((session) => session.accountId === accountId);
    return statement(removal, { committed });
  }

  #insertion(held: HeldSession): Statement {
    const row = {
      id: held.id,
      account_id: held.accountId,
      secret_hash: held.secretHash,
      created_at: held.createdAt,
      last_used: held.lastUsed,
    };
    return statement(
      this.#database.tables.insertInto("web_sessions").values(row),
      { committed: () => this.#hold(held) },
    );
  }

  #removal(sessionId: string): Statement {
    const removal = this.#database.tables.deleteFrom("web_sessions").where("id", "=", sessionId);
    return statement(removal, { committed: () => this.#drop(({ id }) => id === sessionId) });
  }

  #hold(session: HeldSession): void {
    this.#byId.set(session.id, session);
    this.#byHash.set(session.secretHash, session);
  }

  #drop(isGone: (session: HeldSession) => boolean): void {
    for (const session of this.#byId.values()) {
      if (!isGone(session)) continue;
      this.#byId.delete(session.id);
      this.#byHash.delete(session.secretHash);
    }
  }

  #describe(
    sessionId: string,
    { id, name, kind }: Pick<Account, "id" | "name" | "kind">,
    secret: string,
    lastUsed: number,
  ): WebSession {
    const expiresAt = lastUsed + LIFETIME;
    this.#expiries.set(sessionId, expiresAt, { kind: "session", accountId: id, sessionId });
    return {
      principal: {
        kind,
        id,
        name,
        scopes: SESSION_SCOPES,
        project: null,
        tokenId: null,
        sessionId,
      },
      secret,
      csrfToken: csrfTokenOf(secret),
      expiresAt,
      renewed: true,
    };
  }

  #ended(accountId: string, sessionId: string): void {
    this.#lastUsed.delete(sessionId);
    this.#expiries.delete(sessionId);
    this.#revocations.announce({ kind: "session", accountId, sessionId });
  }

  #writeLastUsed(times: ReadonlyMap<string, number>): Promise<unknown> {
    const { tables } = this.#database;
    return this.#database.commit({
      statements: Array.from(times, ([id, time]) =>
        statement(
          tables.updateTable("web_sessions").set({ last_used: time }).where("id", "=", id),
          {
            committed: () => {
              const session = this.#byId.get(id);
              if (session !== undefined) session.lastUsed = time;
            },
          },
        )),
    });
  }
}

/** How the events call the owner of a session. */
function noun({ principal }: Pick<Caller, "principal">): "admin" | "account" {
  return principal.kind === "admin" ? "admin" : "account";
}

/** Whether this is the session's CSRF token. */
export function isCsrfToken(session: WebSession, token: string): boolean {
  return sameDigest(sha256(token), sha256(session.csrfToken));
}

/** Derives the CSRF token. It needs no storage and does not reveal the session's secret. */
function csrfTokenOf(secret: string): string {
  return sha256(`muster csrf ${secret}`);
}
