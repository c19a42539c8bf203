import { BoundedMap } from "../kernel/bounded_map.ts";
import { sameDigest, sha256 } from "./secrets.ts";

/** Most tokens whose digest is remembered. */
const MOST_TOKENS = 1000;

/**
 * SHA-256 digests of tokens, in hex. It remembers those of valid tokens, because a hash takes
 * longer than the rest of an authentication. A digest alone opens nothing: whether its token is
 * valid is checked each time.
 */
export class TokenDigests {
  readonly #known = new BoundedMap<string, string>(MOST_TOKENS);
  /** The last one: to compare a token takes less than to look it up. */
  #last: { readonly token: string; readonly digest: string } | null = null;

  of(token: string): string {
    const last = this.#last;
    if (last !== null && sameDigest(last.token, token)) return last.digest;
    return this.#known.get(token) ?? sha256(token);
  }

  /** Remembers the digest of a valid token. */
  remember(token: string, digest: string): void {
    if (this.#last?.digest === digest) return;
    this.#last = { token, digest };
    this.#known.set(token, digest);
  }

  /** Forgets all tokens, so that an ended one does not stay in memory. */
  clear(): void {
    this.#known.clear();
    this.#last = null;
  }
}
