import type { Database } from "./database.ts";

/** The table `config`: settings of one repository, by name. */
export class Config {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get(name: string): string | undefined {
    const value = this.#db.value<unknown>("SELECT value FROM config WHERE name=?", name);
    return value === null || value === undefined ? undefined : String(value);
  }

  /** A setting as a whole number; `fallback` if it is absent or not a whole number. */
  integer(name: string, fallback: number): number {
    const value = Number.parseInt(this.get(name) ?? "", 10);
    return Number.isNaN(value) ? fallback : value;
  }

  /** Whether a setting says yes, in any of the program's words. */
  isOn(name: string): boolean {
    return /^(?:1|on|yes|true)$/i.test(this.get(name) ?? "");
  }

  /** Sets a value. It is bound as text: the program does not accept "1.0" as a boolean. */
  set(name: string, value: string): void {
    this.#db.run(
      "REPLACE INTO config(name,value,mtime) VALUES(?,?,CAST(strftime('%s','now') AS INT))",
      name,
      value,
    );
  }

  delete(name: string): void {
    this.#db.run("DELETE FROM config WHERE name=?", name);
  }
}
