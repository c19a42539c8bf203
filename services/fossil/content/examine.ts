/** Whether a repository file is whole: as a database, and as a set of artifacts. */
import type { Database } from "./database.ts";
import type { ContentStore } from "./store.ts";
import { type Damage, verifyArtifacts, type VerifyOptions } from "./verify.ts";

/** Findings of SQLite's integrity check that are reported. */
const MAX_FINDINGS = 100;
/** Missing contents that are named. */
const MAX_MISSING = 1000;

/** Content that the repository names and does not have. */
export interface MissingContent {
  /** Null where only a row in a derived table is left of it. */
  readonly hash: string | null;
  /** The first check-in with a file of this content, and that file; null for other artifacts. */
  readonly checkin: string | null;
  readonly path: string | null;
}

/** What a repository file was found to be. */
export interface Examination {
  /** Artifacts whose content the file claims to have. */
  readonly artifacts: number;
  /** What SQLite's integrity check found; empty for a sound file. */
  readonly file: readonly string[];
  /** Artifacts that are not what their names say. */
  readonly damages: readonly Damage[];
  /** How many contents are named and not here, shunned ones aside. */
  readonly missing_count: number;
  /** The first of them. */
  readonly missing: readonly MissingContent[];
  /** How many names the repository refuses. */
  readonly shunned_count: number;
}

/**
 * Runs SQLite's integrity check, decodes and hashes every artifact, and looks for content that is
 * named and not here. Needs a transaction.
 */
export function examine(db: Database, store: ContentStore, options?: VerifyOptions): Examination {
  const file = integrityOf(db);
  const artifacts = db.value<number>("SELECT count(*) FROM blob WHERE size>=0") ?? 0;
  try {
    const damages = verifyArtifacts(db, store, options);
    return { artifacts, file, damages, ...absentOf(db) };
  } catch (error) {
    // What SQLite refuses to read of a file that it has found damaged, it has named above.
    if (file.length === 0 || !(error instanceof Error)) throw error;
    const damages = [{ hash: "", reason: `The rest cannot be read: ${error.message}` }];
    return { artifacts, file, damages, missing_count: 0, missing: [], shunned_count: 0 };
  }
}

/** What SQLite finds wrong in the file: pages, rows, indexes. */
function integrityOf(db: Database): string[] {
  const rows = db.rows<{ integrity_check: string }>(`PRAGMA integrity_check(${MAX_FINDINGS})`);
  const findings = rows.flatMap((row) => row.integrity_check.split("\n"));
  return findings.filter((finding) => finding !== "ok" && finding !== "");
}

const BLOB_ROWS = "SELECT rid FROM blob";

/** Phantoms, contents that hang on one or on a row that is gone, and rows of check-ins that are gone. */
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
