import type { Database } from "./database.ts";

/** Most rows that are remembered when a write begins. */
const MAX_ROWS = 10_000;

const TRIGGERS = [
  ["event_insert", "INSERT ON event", "NEW.objid"],
  ["event_update", "UPDATE ON event", "NEW.objid"],
  ["event_delete", "DELETE ON event", "OLD.objid"],
  ["tag_insert", "INSERT ON tagxref", "NEW.rid"],
  ["tag_delete", "DELETE ON tagxref", "OLD.rid"],
  ["private_insert", "INSERT ON private", "NEW.rid"],
  ["private_delete", "DELETE ON private", "OLD.rid"],
  // No event has this row: settings concern all of them.
  ["setting_insert", "INSERT ON config", "0"],
  ["setting_update", "UPDATE ON config", "0"],
  ["setting_delete", "DELETE ON config", "0"],
] as const;

/**
 * The events of the timeline that this connection has written, or whose tags it has, in order; 0 for
 * settings. So what was computed from all events can be brought up to date from a few. Triggers of
 * the connection note them: no write can forget to, and what is rolled back was never noted.
 */
export class TouchedEvents {
  readonly #db: Database;
  #isNoting = false;
  /** The last row that is not remembered any more. */
  #forgotten = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Call this before a transaction that writes. */
  begin(): void {
    if (!this.#isNoting) {
      this.#db.exec(
        "CREATE TEMP TABLE IF NOT EXISTS touched(at INTEGER PRIMARY KEY AUTOINCREMENT, rid INT);" +
          TRIGGERS.map(([name, moment, rid]) =>
            `DROP TRIGGER IF EXISTS temp.touched_${name};
             CREATE TEMP TRIGGER touched_${name} AFTER ${moment}
             BEGIN INSERT INTO touched(rid) VALUES(${rid}); END;`
          ).join(""),
      );
      this.#isNoting = true;
    }
    const position = this.position();
    if (position - this.#forgotten <= MAX_ROWS) return;
    this.#forgotten = position;
    this.#db.exec("DELETE FROM temp.touched");
  }

  /** Call this when the tables may have been made anew, or written by somebody else. */
  forget(): void {
    this.#isNoting = false;
  }

  /** How many rows were noted until now. */
  position(): number {
    if (!this.#isNoting) return this.#forgotten;
    return this.#db.value<number>("SELECT seq FROM temp.sqlite_sequence WHERE name='touched'") ?? 0;
  }

  /**
   * Rows of the events that were written since a position, each once; null if they are not
   * remembered.
   */
  since(position: number): readonly number[] | null {
    if (position < this.#forgotten) return null;
    if (!this.#isNoting) return [];
    return this.#db.rows<{ rid: number }>(
      "SELECT DISTINCT rid FROM temp.touched WHERE at>?",
      position,
    ).map(({ rid }) => rid);
  }
}
