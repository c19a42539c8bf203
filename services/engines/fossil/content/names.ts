import { HASH_POLICIES, hasHash, type HashPolicy, namesOf, type Sha3 } from "../codec/mod.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database.ts";

/** Most names whose rows are kept in memory; each takes about 150 bytes. */
const MAX_NAMES = 20_000;

/** Names of artifacts: valid names, and their rows. Recently used rows are cached. */
export class Names {
  readonly #db: Database;
  readonly #config: Config;
  readonly #sha3: Sha3;
  readonly #rids = new Map<string, number>();

  constructor(db: Database, config: Config, sha3: Sha3) {
    this.#db = db;
    this.#config = config;
    this.#sha3 = sha3;
  }

  /** Row of a name, 0 if it is unknown. */
  ridOf(hash: string): number {
    const known = this.#rids.get(hash);
    if (known !== undefined) return known;
    const rid = this.#db.value<number>("SELECT rid FROM blob WHERE uuid=?", hash) ?? 0;
    if (rid === 0) return 0;
    if (this.#rids.size >= MAX_NAMES) this.#rids.clear();
    this.#rids.set(hash, rid);
    return rid;
  }

  /** Forgets the rows, because some may be gone. */
  clear(): void {
    this.#rids.clear();
  }

  /** The policy by which new artifacts are named. */
  policy(): HashPolicy {
    return HASH_POLICIES[this.#config.integer("hash-policy", 2)] ?? "sha3";
  }

  /** The policy `auto` becomes `sha3` with the first SHA3 name. */
  note(hash: string): void {
    if (hash.length > 40 && this.policy() === "auto") this.#config.set("hash-policy", "2");
  }

  /** The name that content has or would get in this repository. */
  nameOf(content: Uint8Array): string {
    const { preferred, known } = namesOf(content, this.policy(), this.#sha3);
    return known !== null && this.ridOf(known) !== 0 ? known : preferred;
  }

  /** Whether content has the claimed name. */
  fits(content: Uint8Array, hash: string): boolean {
    return hasHash(content, hash, this.#sha3);
  }

  isShunned(hash: string): boolean {
    return this.#db.exists("SELECT 1 FROM shun WHERE uuid=?", hash);
  }
}
