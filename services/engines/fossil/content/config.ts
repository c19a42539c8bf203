import type { Database } from "./database.ts";
import { TAG } from "./schema.ts";

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

/** The main branch of a repository that does not say otherwise. */
const DEFAULT_MAIN = "trunk";

/** Other usual names of main branches. */
const USUAL_NAMES = ["main", "master"];

/** Finds whether a check-in has a symbolic name, and is on the branch of that name. */
const ON_BRANCH = `SELECT 1 FROM tag CROSS JOIN tagxref AS named USING(tagid)
    CROSS JOIN tagxref AS branch ON branch.rid=named.rid AND branch.tagid=${TAG.branch}
      AND branch.tagtype>0 AND branch.value=?
  WHERE tagname='sym-'||? AND named.tagtype>0 LIMIT 1`;

/**
 * Name of the main branch: the first that exists of the setting `main-branch`, "trunk", "main",
 * "master" and the branch of the oldest check-in. New branches do not change it. Without any
 * check-in, it is the setting or "trunk".
 */
export function mainBranch({ config, db }: { readonly config: Config; readonly db: Database }) {
  const wanted = config.get("main-branch") || DEFAULT_MAIN;
  const names = [...new Set([wanted, DEFAULT_MAIN, ...USUAL_NAMES])];
  return names.find((name) => db.exists(ON_BRANCH, name, name)) ?? oldestBranch(db) ?? wanted;
}

/** Branch of the oldest check-in; null if there is none. */
function oldestBranch(db: Database): string | null {
  return db.value<string>(
    `SELECT coalesce((SELECT value FROM tagxref WHERE tagid=${TAG.branch} AND tagtype>0
        AND rid=objid),'${DEFAULT_MAIN}')
      FROM event WHERE type='ci' ORDER BY mtime, objid LIMIT 1`,
  ) ?? null;
}
