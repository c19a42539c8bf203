import type { StatementSync } from "node:sqlite";
import { ulid } from "ulid";
import { type Database, statement, Unchanged } from "../database/mod.ts";
import { Unauthorized } from "../errors.ts";
import { newEvent } from "../events/mod.ts";
import type { Log } from "../log.ts";
import type { Account, AccountDirectory } from "./accounts.ts";
import { DeferredTimes } from "./deferred_times.ts";
import type { Revocations } from "./revocations.ts";
import type { Expiries } from "./expiries.ts";
import { type Caller, originOf, type Principal, type Scope } from "./principal.ts";
import { newSecret, sameDigest, sha256 } from "./secrets.ts";

/** How long a session lasts after its last use, in seconds. */
export const SESSION_SECONDS = 12 * 60 * 60;

const LIFETIME = SESSION_SECONDS * 1000;

/** How old its last use must be before another one is noted and prolongs it, in milliseconds. */
const RENEWAL = 60_000;

/** How much later than it happened a use may come into the database, in milliseconds. */
const WRITING_DELAY = 10 * 60_000;

/** Sessions of one admin; one more ends the one that began first. */
const MAX_PER_ACCOUNT = 20;

const FORM = /^[0-9a-f]{64}$/;

/** An admin may do everything that its roles allow. */
const SESSION_SCOPES: ReadonlySet<Scope> = new Set(["read", "write", "admin"]);

/** The session of somebody who logged in to the web pages. */
export interface WebSession {
  readonly principal: Principal;
  /** What the cookie holds. */
  readonly secret: string;
  /** What a request that changes something must carry beside the cookie. */
  readonly csrfToken: string;
  /** Unix milliseconds; later after each use. */
  readonly expiresAt: number;
  /** Whether this use prolongs it, so that the cookie is to be set again. */
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

/**
 * The sessions of admins on the web pages. The database holds the hash of what the cookie holds, so
 * that sessions outlive a restart and a stolen database opens none.
 */
export class WebSessions {
  readonly #database: Database;
  readonly #accounts: AccountDirectory;
  readonly #revocations: Revocations;
  readonly #expiries: Expiries;
  readonly #clock: () => number;
  readonly #lastUsed: DeferredTimes;
  readonly #byHash: StatementSync;

  constructor({ database, accounts, revocations, expiries, clock, log }: WebSessionsOptions) {
    this.#database = database;
    this.#accounts = accounts;
    this.#revocations = revocations;
    this.#expiries = expiries;
    this.#clock = clock;
    this.#lastUsed = new DeferredTimes({ write: (times) => this.#writeLastUsed(times), log });
    this.#byHash = database.prepare(
      `SELECT web_sessions.id, web_sessions.account_id, web_sessions.last_used, accounts.name
       FROM web_sessions JOIN accounts ON accounts.id = web_sessions.account_id
       WHERE web_sessions.secret_hash = ? AND accounts.kind = 'admin'
         AND accounts.revoked_at IS NULL`,
    );
  }

  /**
   * Begins a session for an admin whose password was right a moment ago.
   *
   * @throws Unauthorized where the admin or the password was changed meanwhile
   */
  async open(account: Account, from: Omit<Caller, "principal">): Promise<WebSession> {
    const { tables } = this.#database;
    const now = this.#clock();
    const id = ulid(now);
    const secret = newSecret();
    const surplus = await tables.selectFrom("web_sessions").select("id")
      .where("account_id", "=", account.id).orderBy("id", "desc")
      .limit(-1).offset(MAX_PER_ACCOUNT - 1).execute();
    const session = this.#describe(id, account, secret, now);
    const origin = originOf({ ...from, principal: session.principal });
    const row = {
      id,
      account_id: account.id,
      secret_hash: sha256(secret),
      created_at: now,
      last_used: now,
    };
    try {
      await this.#database.commit({
        statements: [
          this.#accounts.guardPassword(account),
          statement(
            tables.deleteFrom("web_sessions")
              .where("last_used", "<", now - LIFETIME - WRITING_DELAY),
          ),
          ...surplus.map((old) =>
            statement(tables.deleteFrom("web_sessions").where("id", "=", old.id))
          ),
          statement(tables.insertInto("web_sessions").values(row)),
        ],
        events: [newEvent("admin.logged_in", { username: account.name }, origin, now)],
      });
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      throw new Unauthorized("The password has just been changed");
    }
    for (const old of surplus) this.#ended(account.id, old.id);
    return session;
  }

  /**
   * The session that a cookie stands for; asking is using it.
   *
   * @returns null where there is none, or none any more
   */
  find(secret: string): WebSession | null {
    if (!FORM.test(secret) || !this.#accounts.isEnabled("admin")) return null;
    const row = this.#byHash.get(sha256(secret));
    if (row === undefined) return null;
    const id = String(row["id"]);
    const now = this.#clock();
    const lastUsed = this.#lastUsed.latest(id, null) ?? Number(row["last_used"]);
    if (now >= lastUsed + LIFETIME) return null;
    const renewed = now - lastUsed >= RENEWAL;
    if (renewed) this.#lastUsed.set(id, now);
    const account = { id: String(row["account_id"]), name: String(row["name"]) };
    return { ...this.#describe(id, account, secret, renewed ? now : lastUsed), renewed };
  }

  /** Ends the session that the caller came by. */
  async close(caller: Caller): Promise<void> {
    const { id: accountId, sessionId, name } = caller.principal;
    if (accountId === null || sessionId === null) return;
    const { tables } = this.#database;
    const data = { username: name };
    await this.#database.commit({
      statements: [statement(tables.deleteFrom("web_sessions").where("id", "=", sessionId))],
      events: [newEvent("admin.logged_out", data, originOf(caller), this.#clock())],
    });
    this.#ended(accountId, sessionId);
  }

  /** Writes when the sessions were last used; before the database is closed. */
  async flush(): Promise<void> {
    await this.#lastUsed.flush();
  }

  #describe(
    sessionId: string,
    { id, name }: Pick<Account, "id" | "name">,
    secret: string,
    lastUsed: number,
  ): WebSession {
    const expiresAt = lastUsed + LIFETIME;
    this.#expiries.set(sessionId, expiresAt, { kind: "session", accountId: id, sessionId });
    return {
      principal: {
        kind: "admin",
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
        )),
    });
  }
}

/** Whether this is the session's CSRF token. */
export function isCsrfToken(session: WebSession, token: string): boolean {
  return sameDigest(sha256(token), sha256(session.csrfToken));
}

/** Derived, so that nothing more is stored: whoever knows it does not know the session's secret. */
function csrfTokenOf(secret: string): string {
  return sha256(`muster csrf ${secret}`);
}
