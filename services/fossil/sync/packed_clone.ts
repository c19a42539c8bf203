/** Sends a whole repository to clients that clone by version 3 of the protocol. */
import { packBlob } from "../codec/mod.ts";
import { DANGLING } from "../content/mod.ts";
import { type Exchange, MAX_ANSWER_BYTES } from "./exchange.ts";

/** About the length of a card without its content, in bytes. */
const HEAD_BYTES = 140;
/** Rows that are counted at once to find the end of an answer. */
const STEP = 4096;

/** Private artifacts, public ones that are stored as deltas of private ones, and those without bytes. */
const SPECIAL = `SELECT rid FROM private
  UNION SELECT delta.rid FROM delta JOIN private ON private.rid=delta.srcid
  UNION SELECT rid FROM (${DANGLING})`;
const IS_SENT = `blob.size>=0 AND NOT EXISTS(SELECT 1 FROM shun WHERE shun.uuid=blob.uuid)`;
const WITH_SOURCE = `blob LEFT JOIN delta ON delta.rid=blob.rid
  LEFT JOIN blob AS source ON source.rid=delta.srcid`;

/**
 * The cards of all artifacts in a range that are sent as they are stored, as SQLite joins them: that
 * takes a third of the time that rows take. Most deltas have a source in a later row. So the last row
 * comes first, and the client need not remember names of sources that it does not have.
 */
const CARDS = `SELECT CAST(group_concat(card,'') AS BLOB) AS cards, count(*) AS artifacts FROM (
  SELECT 'cfile '||blob.uuid||coalesce(' '||source.uuid,'')||' '||blob.size||' '
      ||length(blob.content)||char(10)||blob.content
      ||CASE substr(blob.content,-1) WHEN x'0a' THEN '' ELSE char(10) END AS card
    FROM ${WITH_SOURCE}
    WHERE blob.rid BETWEEN ? AND ? AND ${IS_SENT} AND blob.rid NOT IN (${SPECIAL})
    ORDER BY blob.rid DESC)`;

interface SpecialRow {
  readonly rid: number;
  readonly uuid: string;
  readonly size: number;
  readonly content: Uint8Array;
  readonly source: string | null;
  readonly isPrivate: number;
}

/**
 * Sends artifacts to a client that clones, as they are stored.
 *
 * @param first the row to begin with.
 * @returns the row to go on with; 0 at the end.
 */
export function sendPacked(exchange: Exchange, first: number): number {
  const { repository: { db }, out, counts } = exchange;
  const last = db.value<number>("SELECT max(rid) FROM blob") ?? 0;
  if (first > last) return 0;
  const next = sendSpecial(exchange, first, endOf(exchange, first, last));
  const row = db.row<{ cards: Uint8Array | null; artifacts: number }>(CARDS, first, next - 1);
  if (row !== undefined && row.cards !== null) out.append(row.cards);
  counts.artifactsSent += row?.artifacts ?? 0;
  exchange.check();
  return next > last ? 0 : next;
}

/** The row before which an answer is full: as many as fit, and at least one. */
function endOf({ repository: { db }, out }: Exchange, first: number, last: number): number {
  const bytes = "SELECT coalesce(sum(length(content)+?),0) FROM blob WHERE rid BETWEEN ? AND ?";
  let left = MAX_ANSWER_BYTES - out.length;
  let end = first;
  for (let step = STEP; step >= 1 && end <= last;) {
    const length = db.value<number>(bytes, HEAD_BYTES, end, end + step - 1) ?? 0;
    if (length > left) {
      step = Math.floor(step / 2);
      continue;
    }
    left -= length;
    end += step;
  }
  return Math.min(Math.max(end, first + 1), last + 1);
}

/**
 * Sends the artifacts of a range that cannot be sent as they are stored.
 *
 * @returns the row before which the answer is full; the end of the range if it is not
 */
function sendSpecial(exchange: Exchange, first: number, end: number): number {
  const { repository: { db, store }, out, sendsPrivate, counts } = exchange;
  const rows = db.rows<{ rid: number }>(
    `SELECT rid FROM (${SPECIAL}) WHERE rid BETWEEN ? AND ? ORDER BY rid`,
    first,
    end - 1,
  );
  for (const { rid } of rows) {
    if (exchange.isFull && rid > first) return rid;
    exchange.check();
    const row = db.row<SpecialRow>(
      `SELECT blob.rid AS rid, blob.uuid AS uuid, blob.size AS size, blob.content AS content,
          source.uuid AS source,
          EXISTS(SELECT 1 FROM private WHERE private.rid=blob.rid) AS isPrivate
        FROM ${WITH_SOURCE} WHERE blob.rid=? AND ${IS_SENT}`,
      rid,
    );
    if (row === undefined) continue;
    const isPrivate = row.isPrivate === 1;
    if ((isPrivate && !sendsPrivate) || !store.isAvailable(rid)) continue;
    if (isPrivate) out.add({ kind: "private" });
    out.add({
      kind: "cfile",
      hash: row.uuid,
      source: isPrivate ? row.source : null,
      size: row.size,
      content: isPrivate ? row.content : packBlob(store.require(rid)),
    });
    counts.artifactsSent++;
  }
  return end;
}
