/** Sends artifacts, and the names of artifacts. */
import { createDelta } from "../codec/mod.ts";
import { PUBLIC, READABLE } from "../content/mod.ts";
import type { Exchange } from "./exchange.ts";

/** An artifact of this length or less is not worth a delta. */
const MIN_DELTA_BYTES = 100;
/** What a delta must save, in bytes. */
const MIN_SAVING = 50;
/** The tag of cluster artifacts. */
const CLUSTER_TAG = 7;

/**
 * Sends an artifact that the client asked for, as a delta of an older version if that is shorter.
 * A full answer names the artifact instead, and the client asks again.
 *
 * @param isNative send the stored delta, to a client that clones.
 */
export function sendArtifact(
  exchange: Exchange,
  { hash, isNative }: { readonly hash: string; readonly isNative: boolean },
): void {
  const { repository: { store }, out, onRemote, sendsPrivate } = exchange;
  const rid = store.ridOf(hash);
  if (rid === 0) return;
  const isPrivate = store.isPrivate(rid);
  if (isPrivate && !sendsPrivate) return out.add({ kind: "igot", hash, isPrivate });
  if (onRemote.has(rid) || !store.isAvailable(rid) || store.isShunned(hash)) return;
  if (exchange.isFull) return out.add({ kind: "igot", hash, isPrivate });
  const content = store.require(rid);
  const source = sourceFor(exchange, { rid, content, isNative });
  if (isPrivate) out.add({ kind: "private" });
  out.add({
    kind: "file",
    hash,
    source: source?.hash ?? null,
    content: source?.delta ?? content,
  });
  onRemote.add(rid);
  exchange.counts.artifactsSent++;
}

interface Source {
  readonly hash: string;
  readonly delta: Uint8Array;
}

/** The delta in place of content; null if there is none that is short enough. */
function sourceFor(
  { repository: { db, store }, sendsPrivate }: Exchange,
  { rid, content, isNative }: {
    readonly rid: number;
    readonly content: Uint8Array;
    readonly isNative: boolean;
  },
): Source | null {
  if (content.length <= MIN_DELTA_BYTES) return null;
  const older = isNative ? store.sourceOf(rid) : olderVersionOf(db, rid);
  if (older === 0 || (store.isPrivate(older) && !sendsPrivate)) return null;
  const hash = store.hashOf(older) ?? "";
  const base = store.isShunned(hash) ? null : store.get(older);
  if (base === null) return null;
  const delta = createDelta(base, content);
  return delta.length < content.length - MIN_SAVING ? { hash, delta } : null;
}

/** The version before: of a check-in its parent, of a file the one that it replaced; 0 if none. */
function olderVersionOf(db: Exchange["repository"]["db"], rid: number): number {
  const isThere = "NOT EXISTS(SELECT 1 FROM phantom WHERE phantom.rid=pid)";
  return db.value<number>(`SELECT pid FROM plink WHERE cid=? AND ${isThere}`, rid) ??
    db.value<number>(
      `SELECT pid FROM mlink JOIN event ON mlink.mid=event.objid
        WHERE fid=? AND pid>0 AND ${isThere} ORDER BY mtime LIMIT 1`,
      rid,
    ) ?? 0;
}

/** Like `sendPacked`, unpacked: for clients that ask for version 2 of the protocol. */
export function sendUnpacked(exchange: Exchange, first: number): number {
  const { db } = exchange.repository;
  const last = db.value<number>("SELECT max(rid) FROM blob") ?? 0;
  let next = first;
  while (next <= last && !exchange.isFull) {
    const row = db.row<{ rid: number; uuid: string }>(
      `SELECT rid, uuid FROM blob WHERE rid>=? AND size>=0 AND ${PUBLIC} ORDER BY rid LIMIT 1`,
      next,
    );
    if (row === undefined) return 0;
    next = row.rid + 1;
    sendArtifact(exchange, { hash: row.uuid, isNative: true });
    exchange.check();
  }
  return next > last ? 0 : next;
}

/** Names the artifacts that are in no cluster. */
export function announceUnclustered(exchange: Exchange): void {
  announce(exchange, `SELECT uuid, rid FROM unclustered JOIN blob USING(rid) WHERE ${READABLE}`);
}

/** Names all artifacts: for `sync --verily`, and for clones by version 1 of the protocol. */
export function announceAll(exchange: Exchange): void {
  announce(exchange, `SELECT uuid, rid FROM blob WHERE ${READABLE}`);
}

/** Names the clusters that are in another cluster. */
export function announceClusters(exchange: Exchange): void {
  announce(
    exchange,
    `SELECT uuid, blob.rid AS rid FROM tagxref JOIN blob ON blob.rid=tagxref.rid
      WHERE tagid=${CLUSTER_TAG} AND ${PUBLIC}
        AND NOT EXISTS(SELECT 1 FROM unclustered WHERE unclustered.rid=blob.rid)`,
  );
}

/** Names the private artifacts, to a client that may have them. */
export function announcePrivate({ repository: { db }, out }: Exchange): void {
  const rows = db.rows<{ uuid: string }>("SELECT uuid FROM private JOIN blob USING(rid)");
  for (const { uuid: hash } of rows) out.add({ kind: "igot", hash, isPrivate: true });
}

function announce({ repository: { db }, out, onRemote }: Exchange, select: string): void {
  for (const { uuid: hash, rid } of db.rows<{ uuid: string; rid: number }>(select)) {
    if (!onRemote.has(rid)) out.add({ kind: "igot", hash, isPrivate: false });
  }
}

/** How many artifacts are in no cluster, and could be. */
export function countUnclustered({ repository: { db } }: Exchange): number {
  return db.value<number>(
    `SELECT count(*) FROM unclustered JOIN blob USING(rid) WHERE ${READABLE}`,
  ) ?? 0;
}
