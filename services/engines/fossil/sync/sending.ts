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

/** Most versions before, and after, among which a base is looked for. */
const MAX_NEIGHBOURS = 50;

/**
 * Sends an artifact that the client asked for, as a delta of another version if that is shorter.
 * A full answer names the artifact instead, and the client asks again.
 */
export function sendArtifact(exchange: Exchange, hash: string): void {
  const { repository: { store }, out, onRemote, sent, sendsPrivate } = exchange;
  const rid = store.ridOf(hash);
  if (rid === 0) return;
  const isPrivate = store.isPrivate(rid);
  if (isPrivate && !sendsPrivate) return out.add({ kind: "igot", hash, isPrivate });
  if (onRemote.has(rid) || !store.isAvailable(rid) || store.isShunned(hash)) return;
  if (exchange.isFull) return out.add({ kind: "igot", hash, isPrivate });
  const content = store.require(rid);
  const delta = deltaFor(exchange, rid, content);
  if (isPrivate) out.add({ kind: "private" });
  out.add({
    kind: "file",
    hash,
    source: delta?.source ?? null,
    content: delta?.content ?? content,
  });
  onRemote.add(rid);
  sent.add(rid);
  exchange.counts.artifactsSent++;
}

/**
 * The delta in place of an artifact; null if there is none that is short enough. Its base is an
 * artifact that the answer has already, and nothing else. What a client announces need not be
 * readable there: it may itself be a delta that waits for content, even for this artifact. Deltas of
 * one another make a clone unusable forever.
 */
function deltaFor(
  { repository: { db, store }, sent }: Exchange,
  rid: number,
  content: Uint8Array,
): { readonly source: string; readonly content: Uint8Array } | null {
  if (content.length <= MIN_DELTA_BYTES || sent.size === 0) return null;
  const base = neighboursOf(db, rid).find((neighbour) => sent.has(neighbour));
  if (base === undefined) return null;
  const delta = createDelta(store.require(base), content);
  if (delta.length >= content.length - MIN_SAVING) return null;
  return { source: store.hashOf(base) ?? "", content: delta };
}

/** The versions before and after: of a check-in or a page, and of a file. A bounded number of them. */
function neighboursOf(db: Exchange["repository"]["db"], rid: number): number[] {
  const part = (select: string) => `SELECT * FROM (${select} LIMIT ${MAX_NEIGHBOURS})`;
  const select = [
    "SELECT pid AS rid FROM plink WHERE cid=?",
    "SELECT cid FROM plink WHERE pid=?",
    "SELECT pid FROM mlink WHERE fid=? AND pid>0",
    "SELECT fid FROM mlink WHERE pid=? AND fid>0",
  ].map(part).join(" UNION ALL ");
  return db.rows<{ rid: number }>(select, rid, rid, rid, rid).map((row) => row.rid);
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
    sendArtifact(exchange, row.uuid);
    exchange.check();
  }
  return next > last ? 0 : next;
}

/** Names the artifacts that are in no cluster; they are few, so `CROSS JOIN` begins with them. */
export function announceUnclustered(exchange: Exchange): void {
  announce(
    exchange,
    `SELECT uuid, rid FROM unclustered CROSS JOIN blob USING(rid) WHERE ${READABLE}`,
  );
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
  const rows = db.rows<{ uuid: string }>("SELECT uuid FROM private CROSS JOIN blob USING(rid)");
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
    `SELECT count(*) FROM unclustered CROSS JOIN blob USING(rid) WHERE ${READABLE}`,
  ) ?? 0;
}
