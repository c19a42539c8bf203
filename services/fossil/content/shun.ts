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

/** Deletes the shunned artifacts; their deltas become full text first. */
export function dropShunned(db: Database, store: ContentStore): void {
  const shunned = "SELECT rid FROM blob JOIN shun USING(uuid)";
  const dependents = `SELECT rid FROM delta WHERE srcid IN (${shunned})`;
  for (const { rid } of db.rows<{ rid: number }>(dependents)) store.undelta(rid);
  for (const { rid } of db.rows<{ rid: number }>(shunned)) store.remove(rid);
}
