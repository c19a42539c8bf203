import type { Database } from "../database/mod.ts";
import { nextTurn } from "../pieces.ts";
import type { DeferredTimes } from "./deferred_times.ts";
import type { Scope } from "./principal.ts";

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
export interface ListedRow {
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
export class TokenLists {
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
