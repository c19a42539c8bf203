import type { Database } from "./database.ts";
import type { Origin } from "./store_types.ts";

/** The table `rcvfrom`: the origin of a transaction's content. */
export class Receipt {
  readonly #db: Database;
  #origin: Origin = { user: null, ip: null };
  #rcvid = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Starts a transaction. */
  begin(origin: Origin): void {
    this.#origin = origin;
    this.forget();
  }

  /** Forgets the row, because the transaction was rolled back. */
  forget(): void {
    this.#rcvid = 0;
  }

  /** Whether this transaction has a row. */
  get exists(): boolean {
    return this.#rcvid !== 0;
  }

  /** The row of this transaction, inserted with its first new content. */
  row(): number {
    if (this.#rcvid === 0) {
      this.#rcvid = this.#db.insert(
        `INSERT INTO rcvfrom(uid,mtime,nonce,ipaddr)
         VALUES((SELECT uid FROM user WHERE login=?),julianday('now'),?,?)`,
        this.#origin.user,
        this.#origin.mark ?? null,
        this.#origin.ip,
      );
    }
    return this.#rcvid;
  }
}
