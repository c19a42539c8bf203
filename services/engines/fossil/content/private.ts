import type { Database } from "./database.ts";

/** The table `private`: artifacts that are not synchronised. Most repositories have none. */
export class PrivateRows {
  readonly #db: Database;
  /** Whether the table has no row; null while that is not known. */
  #isEmpty: boolean | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Clears the cache, because a transaction begins or was rolled back. */
  forget(): void {
    this.#isEmpty = null;
  }

  has(rid: number): boolean {
    this.#isEmpty ??= !this.#db.exists("SELECT 1 FROM private");
    return !this.#isEmpty && this.#db.exists("SELECT 1 FROM private WHERE rid=?", rid);
  }

  add(rid: number): void {
    this.#isEmpty = false;
    this.#db.run("INSERT OR IGNORE INTO private(rid) VALUES(?)", rid);
  }

  /** Returns whether the row was there. */
  delete(rid: number): boolean {
    return this.has(rid) && this.#db.run("DELETE FROM private WHERE rid=?", rid) > 0;
  }
}
