import { isArtifactHash } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import type { Database } from "./database.ts";
import type { ContentStore } from "./store.ts";

/**
 * Refuses an artifact from now on. Existing content stays, in the derived tables too, until the
 * next rebuild drops it. Needs a transaction.
 */
export function shun(db: Database, hash: string, reason = ""): void {
  if (!isArtifactHash(hash)) throw new FossilError("invalid", `"${hash}" is not an artifact hash`);
  db.run(
    "INSERT OR IGNORE INTO shun(uuid,mtime,scom) VALUES(?,CAST(strftime('%s','now') AS INT),?)",
    hash,
    reason,
  );
}

/** Deletes the shunned artifacts; their deltas become full text first, or phantoms if unreadable. */
export function dropShunned(db: Database, store: ContentStore): void {
  drop(db, store, "SELECT rid FROM shun CROSS JOIN blob USING(uuid)");
}

/**
 * Deletes the private artifacts whose content is here; their deltas become full text first, or phantoms if
 * unreadable. The derived tables still have them until the next rebuild. Needs a transaction.
 *
 * @returns their names
 */
export function dropPrivate(db: Database, store: ContentStore): string[] {
  const privates = "FROM private CROSS JOIN blob USING(rid) WHERE size>=0";
  const rows = db.rows<{ uuid: string }>(`SELECT uuid ${privates} ORDER BY rid`);
  drop(db, store, `SELECT rid ${privates}`);
  return rows.map(({ uuid }) => uuid);
}

/**
 * Deletes names without content, and deltas that nobody can read because their source is one of these.
 * The derived tables still have them until the next rebuild, which adds again the names that artifacts
 * have. Needs a transaction.
 */
export function dropMissing(db: Database, store: ContentStore): void {
  const missing = `${DANGLING} UNION SELECT rid FROM blob WHERE size<0`;
  for (const { rid } of db.rows<{ rid: number }>(missing)) store.remove(rid);
}

/** @param chosen selects the column `rid` of the artifacts to delete */
function drop(db: Database, store: ContentStore, chosen: string): void {
  const kept = `SELECT rid FROM delta WHERE srcid IN (${chosen}) AND rid NOT IN (${chosen})`;
  for (const { rid } of db.rows<{ rid: number }>(kept)) {
    // Another artifact can get the row of a deleted one, and would be taken for the source.
    if (store.isAvailable(rid)) store.undelta(rid);
    else store.forget(rid);
  }
  for (const { rid } of db.rows<{ rid: number }>(chosen)) store.remove(rid);
}

/**
 * Deltas whose source is missing, such as a check-in that was refused. Nobody can read them, and
 * `fossil` calls a clone that has one unusable. `CROSS JOIN` begins with the few
 * missing names, and not with every delta.
 */
export const DANGLING = `WITH RECURSIVE dangling(rid) AS (
    SELECT delta.rid FROM phantom CROSS JOIN delta ON delta.srcid=phantom.rid
    UNION SELECT delta.rid FROM dangling CROSS JOIN delta ON delta.srcid=dangling.rid
  ) SELECT rid FROM dangling`;

/** A condition on rows of `blob`: received, public and not shunned. */
export const PUBLIC = `NOT EXISTS(SELECT 1 FROM phantom WHERE phantom.rid=blob.rid)
  AND NOT EXISTS(SELECT 1 FROM private WHERE private.rid=blob.rid)
  AND NOT EXISTS(SELECT 1 FROM shun WHERE shun.uuid=blob.uuid)`;

/** A condition on rows of `blob`: {@link PUBLIC}, and its bytes are there. */
export const READABLE = `${PUBLIC} AND blob.rid NOT IN (${DANGLING})`;
