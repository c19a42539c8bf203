import { type Advertisement, bytesOfName, hexOf } from "../../../git/mod.ts";
import { type Database, isDamage, openDerived, removeDerived } from "../../content/mod.ts";
import { FossilError } from "../../error.ts";
import type { Reader } from "../../read/mod.ts";
import { CommitGraph } from "./graph.ts";
import { COMPANION_SCHEMA, COMPANION_VERSION, KIND, packPath, unpackRows } from "./schema.ts";
import { TreeStore } from "./trees.ts";
import { NotedArtifacts } from "./noted.ts";
import { CompanionUpdater } from "./updater.ts";

/** How long to wait for another connection that updates the companion, in milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * The Git objects of a repository, in a file beside it. Nothing is there alone: commits and trees follow
 * from check-ins, and contents stay in the repository. It can be deleted at any time, and is then made
 * anew.
 */
export class GitCompanion implements Disposable {
  /** The file of the pack that is kept. */
  readonly packPath: string;
  readonly reader: Reader;
  readonly db: Database;
  readonly trees: TreeStore;
  /** The commits, as the last {@linkcode update} left them. */
  readonly graph = new CommitGraph();
  /** What a write that runs knows of what it has stored. */
  readonly noted = new NotedArtifacts();
  /** The companion's data version that the graph has. */
  #loaded = -1;
  /** The history that the graph has; null for none. */
  #history: string | null = null;
  #isClosed = false;
  readonly #currentKey = `git companion ${crypto.randomUUID()}`;

  readonly #path: string;

  private constructor(db: Database, reader: Reader, path: string) {
    this.#path = path;
    this.packPath = packPath(path);
    this.db = db;
    this.reader = reader;
    this.trees = new TreeStore(db);
  }

  /** Opens or creates the companion at `path`; replaces a file that is none. */
  static open(path: string, reader: Reader): GitCompanion {
    const options = { schema: COMPANION_SCHEMA, busyTimeoutMs: BUSY_TIMEOUT_MS };
    const db = openDerived(path, options);
    if (isCurrentVersion(db)) return new GitCompanion(db, reader, path);
    db.close();
    removeDerived(path);
    return new GitCompanion(openDerived(path, options), reader, path);
  }

  /** Adds what is new in the repository. */
  update(): void {
    this.reader.read(() => this.#update());
  }

  /** Closes and removes a damaged companion: the next one that is opened is made anew. */
  discard(): void {
    this.close();
    removeDerived(this.#path);
  }

  /**
   * As {@linkcode update}, for a caller whom somebody waits for; returns whether the companion is
   * current now. What takes long is left to `update`.
   */
  updateIfShort(): boolean {
    return this.reader.read(() => {
      if (!this.#known.isCurrent && this.#updater().takesLong()) return false;
      this.#update();
      return true;
    });
  }

  /**
   * Runs a write of the repository, which calls `update` at its end: both are kept, or neither. Needs
   * an update before.
   */
  during<T>(write: (update: () => void) => T): T {
    let isBegun = false;
    const update = () => {
      this.db.exec("BEGIN IMMEDIATE");
      isBegun = true;
      this.#load();
      this.#updater().update();
    };
    try {
      const result = write(update);
      if (isBegun) this.db.exec("COMMIT");
      return result;
    } catch (error) {
      if (isBegun) this.#undo();
      throw error;
    } finally {
      this.noted.clear();
    }
  }

  /** Runs work that writes rows of its tables, as one transaction. */
  writeRows(work: (db: Database) => void): void {
    this.db.exec("BEGIN IMMEDIATE");
    try {
      work(this.db);
      this.db.exec("COMMIT");
      this.#forget();
    } catch (error) {
      this.#undo();
      throw error;
    }
  }

  /** The references. Needs an update before. */
  advertisement(): Advertisement {
    // SQLite writes hashes in half the time in which their bytes are read.
    const refs = this.db.rows<{ ref: string; object: string; peeled: string | null }>(
      `SELECT name AS ref, lower(hex(object)) AS object, nullif(lower(hex(peeled)),'') AS peeled
        FROM ref ORDER BY name`,
    );
    return {
      head: this.db.value<string>("SELECT value FROM meta WHERE key='head'") ?? "",
      refs: refs.map((row) => ({ ...row })),
    };
  }

  /** The object of a reference; null if there is no such reference. Needs an update before. */
  objectAt(ref: string): string | null {
    const object = this.db.value<Uint8Array>("SELECT object FROM ref WHERE name=?", ref);
    return object === undefined ? null : hexOf(object);
  }

  /** The names of the references. Needs an update before. */
  refNames(): readonly string[] {
    return this.db.rows<{ name: string }>("SELECT name FROM ref").map(({ name }) => name);
  }

  /**
   * Row of the check-in of a commit, by a prefix of its hash; 0 for none.
   *
   * @throws {FossilError} `ambiguous` if it fits several
   */
  checkinNamed(prefix: string): number {
    const rows = this.db.rows<{ rid: number }>(
      `SELECT rid FROM object JOIN revision ON id=place
        WHERE object.name BETWEEN ? AND ? AND kind=${KIND.commit} LIMIT 2`,
      bytesOfName(prefix.padEnd(40, "0")),
      bytesOfName(prefix.padEnd(40, "f")),
    );
    if (rows.length > 1) throw new FossilError("ambiguous", `"${prefix}" fits several commits`);
    return rows[0]?.rid ?? 0;
  }

  /** The name of a commit by its number. */
  commitName(id: number): Uint8Array {
    return this.db.value<Uint8Array>("SELECT name FROM revision WHERE id=?", id)!;
  }

  close(): void {
    if (!this.#isClosed) this.db.close();
    this.#isClosed = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** What is known until somebody writes to the repository. */
  get #known(): { isCurrent: boolean } {
    return this.reader.cached(
      this.#currentKey,
      () => ({ value: { isCurrent: false }, bytes: 100 }),
    );
  }

  #update(): void {
    const known = this.#known;
    if (known.isCurrent) return;
    this.#load();
    if (!this.#updater().isCurrent()) this.#write();
    known.isCurrent = true;
  }

  #write(): void {
    this.db.exec("BEGIN IMMEDIATE");
    try {
      // Another connection may have been quicker.
      this.#load();
      this.#updater().update();
      this.db.exec("COMMIT");
    } catch (error) {
      this.#undo();
      throw error;
    }
  }

  #undo(): void {
    this.db.rollBack();
    this.#forget();
  }

  /** Has the next update read everything. */
  #forget(): void {
    this.#loaded = -1;
    this.#history = null;
  }

  /** An updater of what is loaded now. */
  #updater(): CompanionUpdater {
    return new CompanionUpdater(this);
  }

  /** Reads the commits that another connection has added. */
  #load(): void {
    const version = this.db.dataVersion();
    if (version === this.#loaded) return;
    const history = this.db.value<string>("SELECT value FROM meta WHERE key='history'") ?? "";
    if (history !== this.#history) {
      this.graph.clear();
      this.trees.forget();
    }
    const rows = this.db.rows<{ rid: number; parents: Uint8Array; date: number }>(
      "SELECT rid, parents, date FROM revision WHERE id>=? ORDER BY id",
      this.graph.size,
    );
    for (const { rid, parents, date } of rows) {
      this.graph.add({ rid, parents: unpackRows(parents), date });
    }
    this.#loaded = version;
    this.#history = history;
  }
}

/** Whether a companion has the tables of this version, or nothing yet, and can be read. */
function isCurrentVersion(db: Database): boolean {
  try {
    const version = db.value<string>("SELECT value FROM meta WHERE key='version'");
    return version === undefined || version === COMPANION_VERSION;
  } catch (error) {
    if (isDamage(error)) return false;
    db.close();
    throw error;
  }
}
