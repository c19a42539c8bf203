import { type Database, UNJUDGED_SCHEMA } from "../content/mod.ts";

/**
 * Artifacts that a judged write stored before they could be judged: deltas whose source is missing,
 * and delta manifests whose baseline is missing. The write that completes one may be somebody else's,
 * or no push at all. So an artifact is judged only in the write that brings the last of its bytes; if
 * another one completes it, its content is dropped, and its sender is asked for it again.
 */
export class Unjudged {
  readonly #db: Database;
  /** Whether a judge sees this transaction. */
  #isJudged = false;
  /** Artifacts that this transaction stored. */
  readonly #own = new Set<number>();
  /** Whether the table exists; null if unknown. */
  #hasTable: boolean | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Starts a transaction. */
  begin(isJudged: boolean): void {
    this.#isJudged = isJudged;
    this.#own.clear();
  }

  /** Clears the cache, because another program wrote or a transaction was rolled back. */
  forget(): void {
    this.#hasTable = null;
    this.#own.clear();
  }

  /** Remembers an artifact of which a part is missing, if this transaction is judged. */
  note(rid: number): void {
    if (!this.#isJudged) return;
    this.#db.exec(UNJUDGED_SCHEMA);
    this.#hasTable = true;
    this.#db.run("INSERT OR IGNORE INTO fx_unjudged VALUES(?)", rid);
    this.#own.add(rid);
  }

  /**
   * Forgets an artifact that is complete now. Returns whether an earlier write stored it unjudged.
   */
  take(rid: number): boolean {
    this.#hasTable ??= this.#db.hasTable("fx_unjudged");
    if (!this.#hasTable) return false;
    const wasNoted = this.#db.run("DELETE FROM fx_unjudged WHERE rid=?", rid) > 0;
    return wasNoted && !this.#own.has(rid);
  }
}
