import type { Scope } from "./principal.ts";

/** A token in memory, without its secret. */
export interface HeldToken {
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
export interface TokenRow {
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
export class HeldTokens {
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
