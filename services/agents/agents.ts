import type { StatementSync } from "node:sqlite";
import { ulid } from "ulid";
import { type Change, type Database, Duplicate, statement, Unchanged } from "../database/mod.ts";
import { Conflict, NotFound } from "../errors.ts";
import { newEvent } from "../events/mod.ts";
import {
  type Account,
  type AccountDirectory,
  type Caller,
  type Endings,
  type Identity,
  nameTaken,
  newSecret,
  originOf,
  sha256,
} from "../identity/mod.ts";
import { foldCase } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import { Presence } from "./presence.ts";
import type { AdoptionRequest, RegistrationRequest } from "./schemas.ts";

/** What the registry asks of the IRC server. */
export interface Sessions {
  /** Closes every live session of the account and says how many there were. */
  disconnectAccount(account: string, reason: string): number;
  isOnline(account: string): boolean;
}

/** An agent as it is told to callers. */
export interface Agent {
  readonly nick: string;
  readonly type: string;
  /** With their `#`. */
  readonly channels: string[];
  readonly revoked: boolean;
  /** ISO 8601. */
  readonly created_at: string;
  readonly last_seen: string | null;
  /** Whether it has a live IRC session or has called within two minutes. */
  readonly online: boolean;
}

/** What an agent logs in with, told once. */
export interface Registration {
  readonly nick: string;
  readonly credentials: { readonly nick: string; readonly passphrase: string };
  /** `irc://host:port`, or `ircs://host:port`. */
  readonly server: string;
}

export interface AgentsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly identity: Identity;
  readonly endings: Endings;
  readonly sessions: Sessions;
  /** The URL of the IRC server as agents are told it. */
  readonly serverAddress: () => string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

interface AgentRow {
  readonly account_id: string;
  readonly name: string;
  readonly type: string;
  readonly channels: string;
  readonly registered_at: number;
  readonly revoked_at: number | null;
  readonly last_seen: number | null;
}

/** The registry of agents. A change is on disk, with its event, before it is acknowledged. */
export class Agents {
  readonly #database: Database;
  readonly #accounts: AccountDirectory;
  readonly #endings: Endings;
  readonly #sessions: Sessions;
  readonly #serverAddress: () => string;
  readonly #clock: () => number;
  readonly #presence: Presence;
  readonly #count: StatementSync;
  readonly #stopListening: () => void;

  constructor(options: AgentsOptions) {
    this.#database = options.database;
    this.#accounts = options.accounts;
    this.#endings = options.endings;
    this.#sessions = options.sessions;
    this.#serverAddress = options.serverAddress;
    this.#clock = options.clock;
    this.#presence = new Presence(options);
    this.#count = options.database.prepare(
      `SELECT count(*) AS total, count(*) FILTER (WHERE revoked_at IS NULL) AS active
       FROM accounts WHERE kind = 'agent'`,
    );
    this.#stopListening = options.identity.onAuthenticated(({ kind, id }) => {
      if (kind === "agent" && id !== null) this.touch(id);
    });
  }

  /** Every agent, revoked ones included, by nick. */
  async list(): Promise<Agent[]> {
    const rows = await this.#select().orderBy("accounts.name_folded").execute();
    return rows.map((row) => this.#describe(row));
  }

  /** @throws NotFound */
  async get(nick: string): Promise<Agent> {
    const row = await this.#select().where("accounts.name_folded", "=", foldCase(nick))
      .executeTakeFirst();
    if (row === undefined) throw noSuchAgent(nick);
    return this.#describe(row);
  }

  /** How many agents there are, and how many of them are not revoked. */
  counts(): { active: number; total: number } {
    const { active, total } = this.#count.get() ?? {};
    return { active: Number(active), total: Number(total) };
  }

  /**
   * Makes an account and registers it as an agent.
   *
   * @throws Conflict where the nick is taken or reserved
   */
  async register(request: RegistrationRequest, caller: Caller): Promise<Registration> {
    const { nick, type, channels } = request;
    this.#accounts.assertFree(nick);
    const now = this.#clock();
    const id = ulid(now);
    const passphrase = newSecret();
    const secret = { scheme: "sha256", value: sha256(passphrase) } as const;
    try {
      await this.#database.commit({
        statements: [
          this.#accounts.insertion({ id, name: nick, kind: "agent", secret, createdAt: now }),
          this.#insertion(id, request, now),
        ],
        events: [newEvent("agent.registered", { nick, type, channels }, originOf(caller), now)],
      });
    } catch (error) {
      throw error instanceof Duplicate ? nameTaken(nick) : error;
    }
    return this.#registration(nick, passphrase);
  }

  /**
   * Replaces an agent's passphrase and closes the IRC sessions that began with the old one.
   *
   * @throws NotFound, or Conflict where the agent is revoked
   */
  async rotate(nick: string, caller: Caller): Promise<Registration> {
    const { id, name } = this.#active(nick);
    const passphrase = newSecret();
    const secret = { secret_scheme: "sha256", secret: sha256(passphrase) } as const;
    const update = this.#database.tables.updateTable("accounts").set(secret)
      .where("id", "=", id).where("revoked_at", "is", null);
    await this.#change(name, {
      statements: [statement(update, { mustChange: true })],
      events: [newEvent("agent.rotated", { nick: name }, originOf(caller), this.#clock())],
    });
    this.#endings.announce({ kind: "password", accountId: id });
    this.#sessions.disconnectAccount(name, "Passphrase changed");
    return this.#registration(name, passphrase);
  }

  /**
   * Makes an existing IRC account an agent; it keeps its password.
   *
   * @throws NotFound where there is no such account, Conflict where it is an agent already
   */
  async adopt(nick: string, request: AdoptionRequest, caller: Caller): Promise<Agent> {
    const account = this.#accounts.find(nick);
    if (account?.kind === "agent") throw new Conflict(`"${account.name}" is an agent already`);
    if (account?.kind !== "person") throw new NotFound(`There is no IRC account "${nick}"`);
    const { id, name } = account;
    const { type, channels } = request;
    const now = this.#clock();
    const update = this.#database.tables.updateTable("accounts").set({ kind: "agent" })
      .where("id", "=", id).where("kind", "=", "person");
    await this.#change(name, {
      statements: [statement(update, { mustChange: true }), this.#insertion(id, request, now)],
      events: [newEvent("agent.adopted", { nick: name, type, channels }, originOf(caller), now)],
    });
    return await this.get(name);
  }

  /**
   * Ends everything that an agent can log in with, and keeps its record.
   *
   * @throws NotFound, or Conflict where the agent is revoked already
   */
  async revoke(nick: string, caller: Caller): Promise<void> {
    const { id, name } = this.#active(nick);
    const { tables } = this.#database;
    const now = this.#clock();
    const update = tables.updateTable("accounts").set({ revoked_at: now })
      .where("id", "=", id).where("revoked_at", "is", null);
    await this.#change(name, {
      statements: [
        statement(update, { mustChange: true }),
        statement(tables.deleteFrom("tokens").where("owner_id", "=", id)),
      ],
      events: [newEvent("agent.revoked", { nick: name }, originOf(caller), now)],
    });
    this.#end(id, name, "Agent revoked");
  }

  /**
   * Removes an agent, revoked or not, with everything that belongs to it, and frees its nick.
   *
   * @throws NotFound
   */
  async delete(nick: string, caller: Caller): Promise<void> {
    const account = this.#find(nick);
    const { id, name } = account;
    await this.#change(name, {
      statements: [this.#accounts.removal(account)],
      events: [newEvent("agent.deleted", { nick: name }, originOf(caller), this.#clock())],
    });
    this.#end(id, name, "Agent deleted");
  }

  /** Notes a call of the agent over HTTP or MCP. */
  touch(accountId: string): void {
    this.#presence.called(accountId);
  }

  /** Notes that somebody vouches for an agent's presence, if there is an agent of this nick. */
  touchNick(nick: string): void {
    const account = this.#accounts.find(nick);
    if (account?.kind === "agent" && account.revokedAt === null) this.touch(account.id);
  }

  /** Notes that an IRC session of the account, which may be no agent, begins or ends. */
  sessionSeen(account: string): void {
    const found = this.#accounts.find(account);
    if (found?.kind === "agent") this.#presence.seen(found.id);
  }

  /** Writes when agents were last seen; before the database is closed. */
  async close(): Promise<void> {
    this.#stopListening();
    await this.#presence.close();
  }

  #find(nick: string): Account {
    const account = this.#accounts.find(nick);
    if (account?.kind !== "agent") throw noSuchAgent(nick);
    return account;
  }

  #active(nick: string): Account {
    const account = this.#find(nick);
    if (account.revokedAt !== null) throw new Conflict(`The agent "${account.name}" is revoked`);
    return account;
  }

  /** Commits a change of an account that was found to allow it a moment ago. */
  async #change(name: string, change: Change): Promise<void> {
    try {
      await this.#database.commit(change);
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      throw new Conflict(`"${name}" was changed by somebody else at the same time`);
    }
  }

  #end(accountId: string, name: string, reason: string): void {
    this.#presence.forget(accountId);
    this.#endings.announce({ kind: "account", accountId });
    this.#sessions.disconnectAccount(name, reason);
  }

  #insertion(accountId: string, { type, channels }: AdoptionRequest, now: number) {
    return statement(
      this.#database.tables.insertInto("agents").values({
        account_id: accountId,
        type,
        channels: JSON.stringify(channels),
        registered_at: now,
        last_seen: null,
      }),
    );
  }

  #registration(nick: string, passphrase: string): Registration {
    return { nick, credentials: { nick, passphrase }, server: this.#serverAddress() };
  }

  #select() {
    return this.#database.tables.selectFrom("agents")
      .innerJoin("accounts", "accounts.id", "agents.account_id")
      .select([
        "account_id",
        "name",
        "type",
        "channels",
        "registered_at",
        "revoked_at",
        "last_seen",
      ]);
  }

  #describe(row: AgentRow): Agent {
    const id = row.account_id;
    const connected = this.#sessions.isOnline(row.name);
    const lastSeen = connected ? this.#clock() : this.#presence.lastSeen(id, row.last_seen);
    return {
      nick: row.name,
      type: row.type,
      channels: JSON.parse(row.channels),
      revoked: row.revoked_at !== null,
      created_at: new Date(row.registered_at).toISOString(),
      last_seen: lastSeen === null ? null : new Date(lastSeen).toISOString(),
      online: connected || this.#presence.isPresent(id),
    };
  }
}

function noSuchAgent(nick: string): NotFound {
  return new NotFound(`There is no agent "${nick}"`);
}
