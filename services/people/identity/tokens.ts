import {
  type Database,
  type Directory,
  type Statement,
  statement,
  Unchanged,
} from "../../engines/database/mod.ts";
import { Conflict, Invalid, NotFound } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { nextTurn } from "../../kernel/pieces.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { Account, AccountDirectory } from "./accounts.ts";
import { DeferredTimes } from "./deferred_times.ts";
import { type Caller, originOf, type Principal, type Scope, SCOPES } from "./principal.ts";
import type { Expiries, Revocations } from "./revocations.ts";
import type { TokenRequest } from "./schemas.ts";
import { sha256, type TokenKey } from "./secrets.ts";

/** A new token, shown once. */
export interface IssuedToken extends Token {
  readonly token: string;
}

interface TokensOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly key: TokenKey;
  readonly revocations: Revocations;
  readonly expiries: Expiries;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

const FORM = /^[0-9a-f]{40}$/;

/** Most tokens that a proof is compared with. */
const MOST_TRIED = 100;

/** Most tokens that a person has made without an admin. */
export const MOST_OWN_TOKENS = 50;

/** The id of no token: a proof for an unknown name is compared with it. */
const NO_TOKEN = "none";

/**
 * The tokens of accounts: credentials beside the passphrase that have fewer rights and can be ended
 * one by one. All are held in memory, so that a request needs no read.
 */
export class Tokens implements Directory {
  readonly tables = ["tokens"] as const;
  readonly #database: Database;
  readonly #accounts: AccountDirectory;
  readonly #key: TokenKey;
  readonly #revocations: Revocations;
  readonly #expiries: Expiries;
  readonly #clock: () => number;
  readonly #lastUsed: DeferredTimes;
  readonly #lists: TokenLists;
  readonly #held = new HeldTokens();
  /** The tokens that were there before the last load, and are no more. */
  #replaced: readonly HeldToken[] = [];
  /** How many tokens accounts are making for themselves now, which count against their bound. */
  readonly #making = new Map<string, number>();

  private constructor(options: TokensOptions) {
    const { database, accounts, key, revocations, expiries, clock, log } = options;
    this.#database = database;
    this.#accounts = accounts;
    this.#key = key;
    this.#revocations = revocations;
    this.#expiries = expiries;
    this.#clock = clock;
    this.#lastUsed = new DeferredTimes({ write: (times) => this.#writeLastUsed(times), log });
    this.#lists = new TokenLists(database, this.#lastUsed);
  }

  /** Reads all tokens from the database. */
  static async open(options: TokensOptions): Promise<Tokens> {
    const tokens = new Tokens(options);
    await options.database.keepCurrent(tokens);
    options.accounts.onChanged((id, account) => {
      if (account === null || account.revokedAt !== null) tokens.#dropAllOf(id);
    });
    return tokens;
  }

  async load(): Promise<void> {
    const rows = await this.#database.tables.selectFrom("tokens")
      .select(["id", "owner_id", "project_id", "name", "scopes", "expires_at", "token_hash"])
      .execute();
    this.#replaced = this.#held.replace(rows);
  }

  announce(): void {
    for (const { id, ownerId } of this.#replaced) this.#ended(id, ownerId);
    this.#replaced = [];
  }

  /**
   * Creates a token of an account or for a project.
   *
   * @param findProject the internal id of a slug, or null
   * @throws NotFound if the owner or the project does not exist
   * @throws Invalid if both or neither are given, or the time is past
   * @throws Conflict if the owner is revoked
   */
  async create(
    request: TokenRequest,
    caller: Caller,
    findProject: (slug: string) => string | null = () => null,
  ): Promise<IssuedToken> {
    const { name, project } = request;
    const owner = request.owner === null ? null : this.#ownerFor(request.owner);
    if ((owner === null) === (project === null)) {
      throw new Invalid('A token needs either "owner" or "project"');
    }
    if (project === null && request.scopes.includes("status:write")) {
      throw new Invalid('"scopes": only a project\'s token can have "status:write"');
    }
    const projectId = project === null ? null : findProject(project);
    if (project !== null && projectId === null) {
      throw new NotFound(`There is no project "${project}"`);
    }
    const now = this.#clock();
    const expiresAt = request.expires_at === null ? null : Date.parse(request.expires_at);
    if (expiresAt !== null && expiresAt <= now) {
      throw new Invalid('"expires_at" must be in the future');
    }

    const asked: ReadonlySet<Scope> = new Set(request.scopes);
    const scopes = SCOPES.filter((scope) => asked.has(scope));
    const id = newUlid(now);
    const token = await this.#key.derive(id);
    const row = {
      id,
      owner_id: owner?.id ?? null,
      project_id: projectId,
      name,
      scopes: JSON.stringify(scopes),
      token_hash: sha256(token),
      created_at: now,
      expires_at: expiresAt,
      last_used: null,
    };
    const insertion = statement(this.#database.tables.insertInto("tokens").values(row), {
      committed: () => this.#held.add(row),
    });
    const data = { id, name, owner: owner?.name ?? null, project, scopes };
    try {
      await this.#database.commit({
        statements: [...owner === null ? [] : [this.#accounts.guard(owner)], insertion],
        events: [newEvent("token.created", data, originOf(caller), now)],
      });
    } catch (error) {
      throw error instanceof Unchanged
        ? new Conflict(`The account "${owner?.name}" has just been removed`)
        : error;
    }
    return { ...this.#lists.describe({ ...row, owner: owner?.name ?? null }), token };
  }

  /**
   * Creates a token for the account that asks for it.
   *
   * A page that shows a new token makes no second one when it is loaded again: names differ.
   *
   * @throws Conflict if it has as many as it may make, or one of this name; otherwise like
   * {@link create}
   */
  async createOwn(request: TokenRequest, caller: Caller): Promise<IssuedToken> {
    const { id, name: owner } = caller.principal;
    const now = this.#clock();
    const own = this.#held.filter(({ ownerId }) => ownerId === id);
    const making = this.#making.get(id ?? "") ?? 0;
    if (id === null || own.length + making >= MOST_OWN_TOKENS) {
      throw new Conflict(`You have ${own.length} tokens: revoke one that you no longer use`);
    }
    if (own.some(({ name, expiresAt }) => name === request.name && (expiresAt ?? Infinity) > now)) {
      throw new Conflict(`You have a token "${request.name}": revoke it, or choose another name`);
    }
    this.#making.set(id, making + 1);
    try {
      return await this.create({ ...request, owner, project: null }, caller);
    } finally {
      const left = (this.#making.get(id) ?? 1) - 1;
      if (left > 0) this.#making.set(id, left);
      else this.#making.delete(id);
    }
  }

  /** Every token that fits, oldest first; all by default. */
  list(filter?: TokenFilter): Promise<Token[]> {
    return this.#lists.list(filter);
  }

  /** The ids of the tokens of which a condition holds, newest first; it needs no read. */
  idsOf(isOne: (token: HeldToken) => boolean): string[] {
    return this.#held.filter(isOne).map(({ id }) => id).sort().reverse();
  }

  /**
   * Ends a token at once.
   *
   * @param ownerId only if it belongs to this account
   * @throws NotFound
   */
  async revoke(id: string, caller: Caller, ownerId?: string): Promise<void> {
    const { tables } = this.#database;
    const row = await tables.selectFrom("tokens").select(["name", "owner_id"])
      .where("id", "=", id).executeTakeFirst();
    const isOthers = ownerId !== undefined && row?.owner_id !== ownerId;
    if (row === undefined || isOthers) throw noSuchToken(id);
    try {
      await this.#database.commit({
        statements: [
          statement(tables.deleteFrom("tokens").where("id", "=", id), {
            mustChange: true,
            committed: () => this.#held.remove((token) => token.id === id),
          }),
        ],
        events: [
          newEvent("token.revoked", { id, name: row.name }, originOf(caller), this.#clock()),
        ],
      });
    } catch (error) {
      throw error instanceof Unchanged ? noSuchToken(id) : error;
    }
    this.#ended(id, row.owner_id);
  }

  /**
   * Returns the owner of a token, or null if the token is not valid. This counts as its use.
   *
   * @param digest SHA-256 of the token
   */
  authenticate(token: string, digest: string): Principal | null {
    const principal = this.find(token, digest);
    const held = this.#held.get(digest);
    if (principal === null || held === undefined) return null;
    const { id: tokenId, ownerId: accountId, expiresAt } = held;
    this.#lastUsed.set(tokenId, this.#clock());
    if (expiresAt !== null) {
      this.#expiries.set(tokenId, expiresAt, { kind: "token", accountId, tokenId });
    }
    return principal;
  }

  /** The same without its use. */
  find(token: string, digest: string): Principal | null {
    if (!FORM.test(token)) return null;
    const held = this.#held.get(digest);
    return held === undefined ? null : this.#principalOf(held);
  }

  /**
   * What somebody who asked for work is when its turn comes, perhaps hours later.
   *
   * @param asker who asked; the end of a session or of a passphrase since then does not count
   * @returns null if the asker's account or token has ended
   */
  today(asker: Principal): Principal | null {
    const { id, tokenId } = asker;
    if (tokenId !== null) {
      const held = this.#held.withId(tokenId);
      return held === undefined ? null : this.#principalOf(held);
    }
    if (id === null) return asker;
    const owner = this.#ownerOf(id);
    return owner === null ? null : { ...asker, kind: owner.kind, name: owner.name };
  }

  /** The owner of a token; null if the token has expired, or its owner has ended. */
  #principalOf(held: HeldToken): Principal | null {
    const holder = this.#holderOf(held);
    if (holder === null) return null;
    const { id: tokenId, ownerId: id, projectId: project, expiresAt, scopes } = held;
    if (expiresAt !== null && expiresAt <= this.#clock()) return null;
    return { ...holder, id, scopes, project, tokenId, sessionId: null };
  }

  /**
   * The owner of the token that fits a proof, for protocols that show a hash in place of the token.
   * Tries the newest tokens of the named account and of a project, and takes no shorter where the
   * name is unknown.
   *
   * @param name the account's name; a project's tokens fit whatever it is
   * @param projectId the project's internal id; null for none
   * @param fits whether a token makes the proof
   * @returns null if none of them does
   */
  async prove(
    name: string,
    projectId: string | null,
    fits: (token: string) => boolean,
  ): Promise<Principal | null> {
    const ownerId = this.#accounts.named(name)?.id ?? null;
    const ids = this.#held.filter((token) =>
      token.ownerId === null ? token.projectId === projectId : token.ownerId === ownerId
    ).map(({ id }) => id).sort().slice(-MOST_TRIED);
    const tried = await Promise.all(
      [...ids, NO_TOKEN].map((id) => this.#key.derive(id)),
    );
    const fitting = tried.slice(0, -1).filter(fits);
    const [token] = fitting;
    return token === undefined ? null : this.authenticate(token, sha256(token));
  }

  /** The statement that ends every token of a project. */
  endingAllOfProject(projectId: string): Statement {
    const removal = this.#database.tables.deleteFrom("tokens").where("project_id", "=", projectId);
    return statement(removal, {
      committed: () => {
        const ended = this.#held.remove((token) => token.projectId === projectId);
        for (const { id } of ended) this.#ended(id, null);
      },
    });
  }

  /** The owner of a token; null if it may have no tokens now. */
  #holderOf({ ownerId, name }: HeldToken): Pick<Principal, "kind" | "name"> | null {
    // No account has a name with a colon.
    if (ownerId === null) return { kind: "project", name: `token:${name}` };
    const owner = this.#ownerOf(ownerId);
    return owner === null ? null : { kind: owner.kind, name: owner.name };
  }

  /** An account; null if it has ended, or those of its kind are off. */
  #ownerOf(id: string): Account | null {
    const owner = this.#accounts.get(id);
    if (owner === null || owner.revokedAt !== null) return null;
    return this.#accounts.isEnabled(owner.kind) ? owner : null;
  }

  /** The statement that ends every token of an account. */
  endingAllOf(accountId: string): Statement {
    const removal = this.#database.tables.deleteFrom("tokens").where("owner_id", "=", accountId);
    return statement(removal, { committed: () => this.#dropAllOf(accountId) });
  }

  /** Writes when the tokens were last used. */
  async close(): Promise<void> {
    await this.#lastUsed.flush();
  }

  #ended(tokenId: string, accountId: string | null): void {
    this.#lastUsed.delete(tokenId);
    this.#expiries.delete(tokenId);
    this.#revocations.announce({ kind: "token", accountId, tokenId });
  }

  #dropAllOf(accountId: string): void {
    this.#held.remove(({ ownerId }) => ownerId === accountId);
  }

  #ownerFor(name: string): Account {
    const owner = this.#accounts.named(name);
    if (owner === null) throw new NotFound(`There is no account "${name}"`);
    if (owner.revokedAt !== null) throw new Conflict(`"${owner.name}" is revoked`);
    return owner;
  }

  #writeLastUsed(times: ReadonlyMap<string, number>): Promise<unknown> {
    const { tables } = this.#database;
    return this.#database.commit({
      statements: Array.from(
        times,
        ([id, time]) =>
          statement(tables.updateTable("tokens").set({ last_used: time }).where("id", "=", id)),
      ),
    });
  }
}

function noSuchToken(id: string): NotFound {
  return new NotFound(`There is no token "${id}"`);
}

/** A token in memory, without its secret. */
interface HeldToken {
  readonly id: string;
  /** The internal id of the owner's account; null for a project's token. */
  readonly ownerId: string | null;
  /** The internal id of the project that it is for; null for an account's token. */
  readonly projectId: string | null;
  readonly name: string;
  /** With implied scopes; shared by tokens with the same scopes. */
  readonly scopes: ReadonlySet<Scope>;
  /** Unix milliseconds, or null. */
  readonly expiresAt: number | null;
}

/** What the database keeps of a token that a request needs. */
interface TokenRow {
  readonly id: string;
  readonly owner_id: string | null;
  readonly project_id: string | null;
  readonly name: string;
  /** JSON. */
  readonly scopes: string;
  readonly expires_at: number | null;
  readonly token_hash: string;
}

/** All tokens, by the SHA-256 of each in hex, so that a request needs no read. */
class HeldTokens {
  readonly #byHash = new Map<string, HeldToken>();
  /** Sets of scopes, by the column that holds them. */
  readonly #scopes = new Map<string, ReadonlySet<Scope>>();

  /** The token with this digest. */
  get(digest: string): HeldToken | undefined {
    return this.#byHash.get(digest);
  }

  /** The token with this id. */
  withId(id: string): HeldToken | undefined {
    return this.filter((token) => token.id === id)[0];
  }

  /** The tokens of which a condition holds, in no order. */
  filter(isOne: (token: HeldToken) => boolean): HeldToken[] {
    return [...this.#byHash.values()].filter(isOne);
  }

  /** Takes a token in. One without an owner and a project is nobody's, and stays out. */
  add(row: TokenRow): void {
    const { id, name, owner_id: ownerId, project_id: projectId, expires_at: expiresAt } = row;
    if (ownerId === null && projectId === null) return;
    const scopes = this.#scopes.get(row.scopes) ?? withImplied(JSON.parse(row.scopes));
    this.#scopes.set(row.scopes, scopes);
    this.#byHash.set(row.token_hash, { id, ownerId, projectId, name, scopes, expiresAt });
  }

  /** Takes the tokens out of which a condition holds, and returns them. */
  remove(isGone: (token: HeldToken) => boolean): HeldToken[] {
    const gone: HeldToken[] = [];
    for (const [hash, token] of this.#byHash) {
      if (!isGone(token)) continue;
      this.#byHash.delete(hash);
      gone.push(token);
    }
    return gone;
  }

  /** Puts these tokens in the place of all, and returns those that are gone. */
  replace(rows: readonly TokenRow[]): HeldToken[] {
    const before = this.filter(() => true);
    this.#byHash.clear();
    for (const row of rows) this.add(row);
    const kept = new Set(Array.from(this.#byHash.values(), ({ id }) => id));
    return before.filter(({ id }) => !kept.has(id));
  }
}

function withImplied(scopes: readonly Scope[]): ReadonlySet<Scope> {
  const all = new Set(scopes);
  if (all.has("admin")) all.add("write");
  if (all.has("write")) all.add("read").add("status:write");
  return all;
}

/** Tokens that are read at once; other tasks run in between. */
const PIECE = 250;

/** A listed token, without its secret. */
export interface Token {
  readonly id: string;
  /** Name of the account that it belongs to; null for a project's token. */
  readonly owner: string | null;
  readonly name: string;
  readonly scopes: Scope[];
  /** Internal id of the project that it is for; null for an account's token. */
  readonly project: string | null;
  /** ISO 8601, as all times here. */
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used: string | null;
}

/** Which tokens are listed. */
export interface TokenFilter {
  /** Those of this account, by its internal id. */
  readonly ownerId?: string;
  /** Those of this project, by its internal id. */
  readonly projectId?: string;
  readonly ids?: readonly string[];
}

/** What the database has of a token that is shown, with the name of its owner. */
interface ListedRow {
  readonly id: string;
  readonly owner: string | null;
  readonly name: string;
  /** JSON. */
  readonly scopes: string;
  readonly project_id: string | null;
  /** Times are Unix milliseconds. */
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used: number | null;
}

/** Reads tokens for lists of them. */
class TokenLists {
  readonly #database: Database;
  readonly #lastUsed: Pick<DeferredTimes, "latest">;

  constructor(database: Database, lastUsed: Pick<DeferredTimes, "latest">) {
    this.#database = database;
    this.#lastUsed = lastUsed;
  }

  /** Every token that fits, oldest first. Many are read in pieces, each of which is current. */
  async list(filter: TokenFilter = {}): Promise<Token[]> {
    const listed: Token[] = [];
    for (let last = "";;) {
      const rows = await this.#read(filter, last);
      for (const row of rows) listed.push(this.describe(row));
      if (rows.length < PIECE) return listed;
      last = rows.at(-1)?.id ?? last;
      await nextTurn();
    }
  }

  describe(row: ListedRow): Token {
    return {
      id: row.id,
      owner: row.owner,
      name: row.name,
      scopes: JSON.parse(row.scopes),
      project: row.project_id,
      created_at: new Date(row.created_at).toISOString(),
      expires_at: isoTime(row.expires_at),
      last_used: isoTime(this.#lastUsed.latest(row.id, row.last_used)),
    };
  }

  #read({ ownerId, projectId, ids }: TokenFilter, after: string): Promise<ListedRow[]> {
    return this.#database.tables.selectFrom("tokens")
      .leftJoin("accounts", "accounts.id", "tokens.owner_id")
      .select([
        "tokens.id",
        "accounts.name as owner",
        "tokens.name",
        "scopes",
        "project_id",
        "tokens.created_at",
        "expires_at",
        "last_used",
      ])
      .$if(ownerId !== undefined, (query) => query.where("owner_id", "=", ownerId ?? null))
      .$if(projectId !== undefined, (query) => query.where("project_id", "=", projectId ?? null))
      .$if(ids !== undefined, (query) => query.where("tokens.id", "in", ids ?? []))
      .where("tokens.id", ">", after).orderBy("tokens.id").limit(PIECE).execute();
  }
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
