import { formatDate } from "../codec/mod.ts";
import {
  AUX_SCHEMA,
  type Config,
  CONTENT_SCHEMA,
  type ContentStore,
  createTicketTables,
  type Database,
  DERIVED_SCHEMA,
  dropMissing,
  dropShunned,
  PERMANENT_TABLES,
  type Progress,
  ProgressSteps,
  upgradePermanentTables,
  walkArtifacts,
} from "../content/mod.ts";
import type { Crosslinker } from "./crosslinker.ts";

/** Counts of a rebuild. */
export interface RebuildResult {
  /** Artifacts with content, including files. */
  readonly blobs: number;
  /** Structural artifacts. */
  readonly artifacts: number;
  readonly phantoms: number;
}

export interface RebuildOptions {
  readonly progress?: Progress | undefined;
  /** Deletes names without content that no artifact has, and deltas that nobody can read. */
  readonly dropsMissing?: boolean;
}

/**
 * Drops every derived table and computes it again. Needs a transaction. Our own tables ("fx_…") and
 * the program's full text index stay.
 */
export function rebuild(
  db: Database,
  config: Config,
  store: ContentStore,
  crosslinker: Crosslinker,
  { progress = () => {}, dropsMissing = false }: RebuildOptions = {},
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
    INSERT OR IGNORE INTO phantom SELECT rid FROM blob WHERE size<0;
  `);
  if (dropsMissing) {
    dropMissing(db, store);
    db.exec("DELETE FROM phantom; DELETE FROM unclustered WHERE rid NOT IN (SELECT rid FROM blob)");
  }
  const result = linkAll(db, store, crosslinker, progress);
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

/** Links every artifact; one that does not decode ends the rebuild. */
function linkAll(
  db: Database,
  store: ContentStore,
  crosslinker: Crosslinker,
  progress: Progress,
): RebuildResult {
  const total = db.value<number>("SELECT count(*) FROM blob WHERE size>=0") ?? 0;
  const steps = new ProgressSteps(progress, total);
  let [blobs, artifacts] = [0, 0];
  for (const walked of walkArtifacts(db, store, { keeps: true })) {
    if (walked.content === null) throw walked.error;
    const { rid, size, content } = walked;
    const { length } = content;
    if (size !== length) db.run("UPDATE blob SET size=? WHERE rid=?", length, rid);
    if (crosslinker.link(rid, content) !== null) artifacts++;
    blobs++;
    steps.step(length);
  }
  const phantoms = db.value<number>("SELECT count(*) FROM phantom") ?? 0;
  return { blobs, artifacts, phantoms };
}
