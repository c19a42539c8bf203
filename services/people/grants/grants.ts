import type { Selectable } from "kysely";
import { type Database, statement, type Tables, Unchanged } from "../../engines/database/mod.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { newUlid } from "../../kernel/ulid.ts";
import {
  type AccountDirectory,
  type Caller,
  GUEST,
  newSecret,
  originOf,
  sameDigest,
  type Scope,
  SCOPES,
  sha256,
  type Tokens,
} from "../identity/mod.ts";

/** What a client may be allowed to do. */
export const GRANTED_SCOPES = ["read", "write"] as const satisfies readonly Scope[];

/** How long a code can be redeemed, and a grant be refreshed, in milliseconds. */
const CODE_MILLISECONDS = 60_000;
const GRANT_MILLISECONDS = 30 * 24 * 60 * 60 * 1000;
/** How long an access token lasts, in seconds. */
const ACCESS_SECONDS = 3600;
/** Most grants of an account. */
const MAX_GRANTS = 20;

/** What a person has agreed to. */
export interface GrantRequest {
  /** The account in whose name the client will act. */
  readonly accountId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
  /** The resource that the client named (RFC 8707). */
  readonly resource: string;
  /** The S256 challenge (RFC 7636). */
  readonly challenge: string;
}

/** Where a request of a client comes from. */
type Place = Pick<Caller, "address" | "requestId">;

type Grant = Selectable<Tables["oauth_grants"]>;

/** What redeeming a code or a refresh token gives. */
export interface IssuedTokens {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: string;
}

/** Why a code or a refresh token is refused (RFC 6749, section 5.2: `invalid_grant`). */
export class RefusedGrant extends Error {
  override readonly name = "RefusedGrant";
}

export interface GrantsOptions {
  readonly database: Database;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly tokens: Pick<Tokens, "create" | "revoke">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * What people let clients do. A grant begins with a code, which is redeemed once, and then has one
 * access token at a time: a token of the account as any other, which its owner sees and revokes. To
 * use a code or a refresh token again ends the grant (RFC 9700, section 4.14): somebody else has it.
 */
export class Grants {
  readonly #options: GrantsOptions;

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  /**
   * Begins a grant.
   *
   * @param caller who agreed
   * @returns the code
   * @throws Conflict if the account has too many
   */
  async begin(request: GrantRequest, caller: Caller): Promise<string> {
    const { database, clock } = this.#options;
    const now = clock();
    const { accountId, scopes } = request;
    await this.#endDead(accountId, caller);
    const { count } = await database.tables.selectFrom("oauth_grants")
      .select((row) => row.fn.countAll<number>().as("count"))
      .where("account_id", "=", accountId).executeTakeFirstOrThrow();
    if (Number(count) >= MAX_GRANTS) {
      throw new Conflict(
        `${MAX_GRANTS} programs act for this account: revoke the token of one that you no longer use`,
      );
    }
    const id = newUlid(now);
    const secret = newSecret();
    const row = {
      id,
      account_id: accountId,
      client_id: request.clientId,
      client_name: request.clientName,
      redirect_uri: request.redirectUri,
      scopes: JSON.stringify(SCOPES.filter((scope) => scopes.includes(scope))),
      resource: request.resource,
      challenge: request.challenge,
      secret_hash: sha256(secret),
      is_redeemed: 0,
      token_id: null,
      created_at: now,
      expires_at: now + CODE_MILLISECONDS,
    };
    const data = { id, client: request.clientId, scopes: [...scopes] };
    await database.commit({
      statements: [statement(database.tables.insertInto("oauth_grants").values(row))],
      events: [newEvent("grant.allowed", data, originOf(caller), now)],
    });
    return `${id}.${secret}`;
  }

  /**
   * Redeems a code.
   *
   * @throws RefusedGrant
   */
  async redeem(
    code: string,
    { clientId, redirectUri, verifier, resource }: {
      readonly clientId: string;
      readonly redirectUri: string;
      readonly verifier: string;
      readonly resource: string | null;
    },
    from: Place,
  ): Promise<IssuedTokens> {
    const grant = await this.#found(code, { isRedeemed: false, clientId, resource }, from);
    const isProven = grant.redirect_uri === redirectUri &&
      sameDigest(grant.challenge, await challengeOf(verifier));
    if (!isProven) {
      // A client without proof that it asked has the code of another.
      await this.#end(grant, from);
      throw new RefusedGrant("The code was given for another request");
    }
    return await this.#issue(grant, from);
  }

  /**
   * Takes a refresh token for new tokens.
   *
   * @throws RefusedGrant
   */
  async refresh(
    token: string,
    { clientId, resource }: { readonly clientId: string; readonly resource: string | null },
    from: Place,
  ): Promise<IssuedTokens> {
    const grant = await this.#found(token, { isRedeemed: true, clientId, resource }, from);
    const { tables } = this.#options.database;
    const current = await tables.selectFrom("tokens").select("id")
      .where("id", "=", grant.token_id ?? "").executeTakeFirst();
    if (current === undefined) {
      await this.#end(grant, from);
      throw new RefusedGrant("The token was revoked");
    }
    return await this.#issue(grant, from);
  }

  /** Ends the grant of a refresh token; one that is none changes nothing (RFC 7009). */
  async revoke(token: string, clientId: string, from: Place): Promise<void> {
    try {
      const asked = { isRedeemed: true, clientId, resource: null };
      await this.#end(await this.#found(token, asked, from), from);
    } catch (error) {
      if (!(error instanceof RefusedGrant)) throw error;
    }
  }

  async #found(
    presented: string,
    { isRedeemed, clientId, resource }: {
      readonly isRedeemed: boolean;
      readonly clientId: string;
      readonly resource: string | null;
    },
    from: Place,
  ) {
    const [, id = "", secret = ""] = /^([0-9A-Z]{26})\.([0-9a-f]{64})$/.exec(presented) ?? [];
    const { database, clock } = this.#options;
    const grant = await database.tables.selectFrom("oauth_grants").selectAll()
      .where("id", "=", id).executeTakeFirst();
    if (grant === undefined) throw new RefusedGrant("It is not known, or has ended");
    const isCurrent = sameDigest(grant.secret_hash, sha256(secret)) &&
      (grant.is_redeemed === 1) === isRedeemed;
    if (!isCurrent) {
      await this.#end(grant, from);
      throw new RefusedGrant("It has been used before, so the grant has ended");
    }
    if (grant.expires_at <= clock()) throw new RefusedGrant("It has expired");
    if (grant.client_id !== clientId) throw new RefusedGrant("It was given to another client");
    if (resource !== null && resource !== grant.resource) {
      throw new RefusedGrant("It was given for another resource");
    }
    return grant;
  }

  async #issue(grant: Grant, from: Place): Promise<IssuedTokens> {
    const { database, accounts, tokens, clock } = this.#options;
    const owner = accounts.get(grant.account_id);
    if (owner === null) throw new RefusedGrant("The account has ended");
    const now = clock();
    const scopes: Scope[] = JSON.parse(grant.scopes);
    const issued = await this.#created(grant, { owner: owner.name, scopes, now }, from);
    const secret = newSecret();
    const { tables } = database;
    const change = tables.updateTable("oauth_grants").set({
      secret_hash: sha256(secret),
      is_redeemed: 1,
      token_id: issued.id,
      expires_at: now + GRANT_MILLISECONDS,
    }).where("id", "=", grant.id).where("secret_hash", "=", grant.secret_hash);
    try {
      await database.commit({
        statements: [statement(change, { mustChange: true })],
        events: [],
      });
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      // Two have used it at once.
      await tokens.revoke(issued.id, this.#callerOf(grant, from));
      const now = await tables.selectFrom("oauth_grants").selectAll()
        .where("id", "=", grant.id).executeTakeFirst();
      if (now !== undefined) await this.#end(now, from);
      throw new RefusedGrant("It has been used before, so the grant has ended");
    }
    if (grant.token_id !== null) {
      await this.#revokeToken(grant.token_id, this.#callerOf(grant, from));
    }
    return {
      access_token: issued.token,
      token_type: "Bearer",
      expires_in: ACCESS_SECONDS,
      refresh_token: `${grant.id}.${secret}`,
      scope: scopes.join(" "),
    };
  }

  async #created(
    grant: Grant,
    { owner, scopes, now }: {
      readonly owner: string;
      readonly scopes: readonly Scope[];
      readonly now: number;
    },
    from: Place,
  ) {
    const expires_at = new Date(now + ACCESS_SECONDS * 1000).toISOString();
    const { host } = new URL(grant.client_id);
    const name = `${grant.client_name} (${host})`.slice(0, 100).toWellFormed();
    try {
      const request = { owner, project: null, name, scopes: [...scopes], expires_at };
      return await this.#options.tokens.create(request, this.#callerOf(grant, from));
    } catch (error) {
      if (error instanceof Conflict || error instanceof NotFound) {
        throw new RefusedGrant("The account has ended");
      }
      throw error;
    }
  }

  /** The account of a grant acts, by its client. */
  #callerOf({ account_id }: Pick<Grant, "account_id">, from: Place): Caller {
    const owner = this.#options.accounts.get(account_id);
    if (owner === null) return { ...from, principal: GUEST };
    const { kind, id, name } = owner;
    return { ...from, principal: { ...GUEST, kind, id, name } };
  }

  /** Ends those grants of an account that have run out, or whose token its owner has revoked. */
  async #endDead(accountId: string, from: Place): Promise<void> {
    const { database, clock } = this.#options;
    const dead = await database.tables.selectFrom("oauth_grants")
      .leftJoin("tokens", "tokens.id", "oauth_grants.token_id").selectAll("oauth_grants")
      .where("account_id", "=", accountId)
      .where((is) =>
        is.or([
          is("oauth_grants.expires_at", "<=", clock()),
          is.and([is("token_id", "is not", null), is("tokens.id", "is", null)]),
        ])
      ).execute();
    for (const grant of dead) await this.#end(grant, from);
  }

  /** Ends a grant and its access token. */
  async #end(grant: Grant, from: Place): Promise<void> {
    const { database, clock } = this.#options;
    const data = { id: grant.id, client: grant.client_id };
    const removal = database.tables.deleteFrom("oauth_grants").where("id", "=", grant.id)
      .where("secret_hash", "=", grant.secret_hash);
    try {
      await database.commit({
        statements: [statement(removal, { mustChange: true })],
        events: [newEvent("grant.ended", data, originOf(this.#callerOf(grant, from)), clock())],
      });
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      // It got another token meanwhile, or has ended.
      const now = await database.tables.selectFrom("oauth_grants").selectAll()
        .where("id", "=", grant.id).executeTakeFirst();
      if (now !== undefined) await this.#end(now, from);
    }
    if (grant.token_id !== null) {
      await this.#revokeToken(grant.token_id, this.#callerOf(grant, from));
    }
  }

  async #revokeToken(id: string, caller: Caller): Promise<void> {
    try {
      await this.#options.tokens.revoke(id, caller);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }
}

/** The S256 challenge of a verifier (RFC 7636, section 4.2). */
async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
