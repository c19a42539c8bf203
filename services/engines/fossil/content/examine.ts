/** Checks a repository file: the database and the artifacts. */
import type { Database } from "./database.ts";
import type { ContentStore } from "./store.ts";
import { type Damage, verifyArtifacts, type VerifyOptions } from "./verify.ts";

/** Most findings of SQLite's integrity check to report. */
const MAX_FINDINGS = 100;
/** Most missing contents to report. */
const MAX_MISSING = 1000;

/** Content that the repository refers to and does not have. */
export interface MissingContent {
  /** Null if only a row in a derived table refers to it. */
  readonly hash: string | null;
  /** The first check-in with a file of this content, and that file; null for other artifacts. */
  readonly checkin: string | null;
  readonly path: string | null;
}

/** Results of an examination. */
export interface Examination {
  /** Artifacts with content. */
  readonly artifacts: number;
  /** Findings of SQLite's integrity check; empty for a sound file. */
  readonly file: readonly string[];
  /** Artifacts whose content does not have their hash. */
  readonly damages: readonly Damage[];
  /** Number of missing contents, without shunned ones. */
  readonly missing_count: number;
  /** The first of them. */
  readonly missing: readonly MissingContent[];
  /** Number of names that the repository refuses. */
  readonly shunned_count: number;
}

/**
 * Runs SQLite's integrity check, decodes and hashes every artifact, and looks for missing content.
 * Needs a transaction.
 */
export function examine(db: Database, store: ContentStore, options?: VerifyOptions): Examination {
  const file = integrityOf(db);
  const artifacts = db.value<number>("SELECT count(*) FROM blob WHERE size>=0") ?? 0;
  try {
    const damages = verifyArtifacts(db, store, options);
    return { artifacts, file, damages, ...absentOf(db) };
  } catch (error) {
    // The findings already name what SQLite refuses to read.
    if (file.length === 0 || !(error instanceof Error)) throw error;
    const damages = [{ hash: "", reason: `The rest cannot be read: ${error.message}` }];
    return { artifacts, file, damages, missing_count: 0, missing: [], shunned_count: 0 };
  }
}

/** SQLite's findings in the file: pages, rows, indexes. */
function integrityOf(db: Database): string[] {
  const rows = db.rows<{ integrity_check: string }>(`PRAGMA integrity_check(${MAX_FINDINGS})`);
  const findings = rows.flatMap((row) => row.integrity_check.split("\n"));
  return findings.filter((finding) => finding !== "ok" && finding !== "");
}

const BLOB_ROWS = "SELECT rid FROM blob";

/** Phantoms, deltas whose source is a phantom or a deleted row, and rows of deleted check-ins. */
const MISSING = `
  WITH RECURSIVE absent(rid) AS (
    SELECT rid FROM blob WHERE size<0 OR content IS NULL
    UNION SELECT rid FROM delta WHERE srcid NOT IN (${BLOB_ROWS}) AND rid IN (${BLOB_ROWS})
    UNION SELECT fid FROM mlink WHERE fid>0 AND fid NOT IN (${BLOB_ROWS})
    UNION SELECT cid FROM plink WHERE cid NOT IN (${BLOB_ROWS})
    UNION SELECT delta.rid FROM absent JOIN delta ON srcid=absent.rid
  ), missing(rid, hash) AS (
    SELECT rid, uuid FROM absent LEFT JOIN blob USING(rid)
     WHERE uuid IS NULL OR uuid NOT IN (SELECT uuid FROM shun)
  )`;

function absentOf(
  db: Database,
): Pick<Examination, "missing" | "missing_count" | "shunned_count"> {
  const missing = db.rows<MissingContent>(
    `${MISSING}, first(rid, hash, mid) AS (
       SELECT rid, hash, (SELECT min(mid) FROM mlink WHERE fid=missing.rid) FROM missing
     )
     SELECT hash, (SELECT uuid FROM blob WHERE rid=mid) AS checkin,
       (SELECT name FROM mlink JOIN filename USING(fnid)
         WHERE mlink.mid=first.mid AND fid=first.rid LIMIT 1) AS path
     FROM first ORDER BY hash LIMIT ${MAX_MISSING}`,
  );
  return {
    missing,
    missing_count: db.value<number>(`${MISSING} SELECT count(*) FROM missing`) ?? 0,
    shunned_count: db.value<number>("SELECT count(*) FROM shun") ?? 0,
  };
}
