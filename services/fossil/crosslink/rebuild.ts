import { formatDate } from "../codec/mod.ts";
import {
  AUX_SCHEMA,
  type Config,
  CONTENT_SCHEMA,
  type ContentStore,
  createTicketTables,
  type Database,
  DERIVED_SCHEMA,
  dropShunned,
  PERMANENT_TABLES,
  upgradePermanentTables,
} from "../content/mod.ts";
import type { Crosslinker } from "./crosslinker.ts";

/** What a rebuild went through. */
export interface RebuildResult {
  /** Artifacts whose content is here, files among them. */
  readonly blobs: number;
  /** Structural artifacts. */
  readonly artifacts: number;
  readonly phantoms: number;
}

/** Called now and then with the number of artifacts done, and how many there are. */
export type Progress = (done: number, total: number) => void;

/** Between two calls of `Progress`. */
const PROGRESS_STEP = 500;

/**
 * Drops every derived table and computes it anew. Needs a transaction. Tables that are ours
 * ("fx_…") and the program's full text index stay.
 */
export function rebuild(
  db: Database,
  config: Config,
  store: ContentStore,
  crosslinker: Crosslinker,
  progress: Progress = () => {},
): RebuildResult {
  dropDerivedTables(db);
  upgradePermanentTables(db);
  db.exec(DERIVED_SCHEMA);
  createTicketTables(db, config);
  crosslinker.dropCaches();
  store.dropCaches();
  dropShunned(db, store);
  db.exec(`
    INSERT INTO unclustered SELECT rid FROM blob EXCEPT SELECT rid FROM private;
    INSERT INTO phantom SELECT rid FROM blob WHERE size<0;
  `);
  const result = new Walk(db, store, crosslinker, progress).run();
  crosslinker.finishRebuild();
  config.set("content-schema", CONTENT_SCHEMA);
  config.set("aux-schema", AUX_SCHEMA);
  config.set("rebuilt", `muster ${formatDate(Date.now())}`);
  return result;
}

function dropDerivedTables(db: Database): void {
  db.forgetStatements();
  const tables = db.rows<{ name: string }>("SELECT name FROM sqlite_schema WHERE type='table'");
  const kept = new Set(PERMANENT_TABLES);
  for (const { name } of tables) {
    if (kept.has(name) || /^(?:sqlite_|fx_|fts)/.test(name)) continue;
    db.exec(`DROP TABLE IF EXISTS "${name.replaceAll('"', '""')}"`);
  }
}

/**
 * Goes through all artifacts along the delta chains: a delta is applied to the bytes of its
 * source while these are at hand, which is a hundred times quicker than one by one.
 */
class Walk {
  readonly #db: Database;
  readonly #store: ContentStore;
  readonly #crosslinker: Crosslinker;
  readonly #progress: Progress;
  readonly #done = new Set<number>();
  readonly #total: number;
  #artifacts = 0;

  constructor(db: Database, store: ContentStore, crosslinker: Crosslinker, progress: Progress) {
    this.#db = db;
    this.#store = store;
    this.#crosslinker = crosslinker;
    this.#progress = progress;
    this.#total = db.value<number>("SELECT count(*) FROM blob WHERE size>=0") ?? 0;
  }

  run(): RebuildResult {
    const fullTexts = `SELECT rid FROM blob
      WHERE size>=0 AND NOT EXISTS(SELECT 1 FROM delta WHERE delta.rid=blob.rid) ORDER BY rid`;
    this.#walkFrom(fullTexts);
    this.#walkFrom("SELECT rid FROM blob WHERE size>=0 ORDER BY rid");
    const phantoms = this.#db.value<number>("SELECT count(*) FROM phantom") ?? 0;
    return { blobs: this.#done.size, artifacts: this.#artifacts, phantoms };
  }

  #walkFrom(query: string): void {
    for (const { rid } of this.#db.rows<{ rid: number }>(query)) {
      if (!this.#done.has(rid)) this.#walkChain(rid);
    }
  }

  #walkChain(start: number): void {
    const stack: { rid: number; source: Uint8Array | null }[] = [{ rid: start, source: null }];
    for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
      const { rid, source } = item;
      const content = source === null ? this.#store.get(rid) : this.#store.applyStored(rid, source);
      if (content === null) continue;
      this.#visit(rid, content);
      for (const dependent of this.#store.dependents(rid).toReversed()) {
        if (!this.#done.has(dependent)) stack.push({ rid: dependent, source: content });
      }
    }
  }

  #visit(rid: number, content: Uint8Array): void {
    this.#done.add(rid);
    const update = "UPDATE blob SET size=? WHERE rid=? AND size<>?";
    this.#db.run(update, content.length, rid, content.length);
    if (this.#crosslinker.link(rid, content) !== null) this.#artifacts++;
    if (this.#done.size % PROGRESS_STEP === 0) this.#progress(this.#done.size, this.#total);
  }
}
