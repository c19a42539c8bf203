import type { Database } from "./database.ts";

/** Names whose rows are kept in memory; each takes about 150 bytes. */
const MAX_NAMES = 20_000;

/** Rows by name: table blob, with what was looked up of late in memory. */
export class Names {
  readonly #db: Database;
  readonly #rids = new Map<string, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Row of a name, 0 where it is unknown. */
  ridOf(hash: string): number {
    const known = this.#rids.get(hash);
    if (known !== undefined) return known;
    const rid = this.#db.value<number>("SELECT rid FROM blob WHERE uuid=?", hash) ?? 0;
    if (rid === 0) return 0;
    if (this.#rids.size >= MAX_NAMES) this.#rids.clear();
    this.#rids.set(hash, rid);
    return rid;
  }

  /** Forgets the rows, because some may have gone. */
  clear(): void {
    this.#rids.clear();
  }
}
