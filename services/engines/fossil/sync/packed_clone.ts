/** Sends a whole repository to clients that clone by version 3 of the protocol. */
import { packBlob } from "../codec/mod.ts";
import { DANGLING } from "../content/mod.ts";
import { type Exchange, MAX_ANSWER_BYTES } from "./exchange.ts";

/** About the length of a card without its content, in bytes. */
const HEAD_BYTES = 140;
/** Rows that are counted at once to find the end of an answer. */
const STEP = 4096;

/**
 * Artifacts that are not sent as they are stored: private ones; deltas of private and of shunned ones,
 * which the client does not get; those without bytes; and deltas of what an earlier answer had. The
 * repository may have stored that one anew since, as a delta of this one, and a circle of deltas
 * makes a clone unusable. So between two answers, deltas go in one direction only.
 */
const SPECIAL = `SELECT rid FROM private
  UNION SELECT delta.rid FROM private CROSS JOIN delta ON delta.srcid=private.rid
  UNION SELECT delta.rid FROM shun CROSS JOIN blob USING(uuid) CROSS JOIN delta ON delta.srcid=blob.rid
  UNION SELECT rid FROM (${DANGLING})
  UNION SELECT rid FROM delta WHERE rid BETWEEN ? AND ? AND +srcid<?`;
const IS_SENT = `blob.size>=0 AND NOT EXISTS(SELECT 1 FROM shun WHERE shun.uuid=blob.uuid)`;

/**
 * The cards of all artifacts in a range that are sent as they are stored, as SQLite joins them: that
 * takes a third of the time that rows take. Most deltas have a source in a later row. So the last row
 * comes first, and the client need not remember names of sources that it does not have.
 */
const CARDS = `SELECT CAST(group_concat(card,'') AS BLOB) AS cards, count(*) AS artifacts FROM (
  SELECT 'cfile '||blob.uuid||coalesce(' '||source.uuid,'')||' '||blob.size||' '
      ||length(blob.content)||char(10)||blob.content
      ||CASE substr(blob.content,-1) WHEN x'0a' THEN '' ELSE char(10) END AS card
    FROM blob LEFT JOIN delta ON delta.rid=blob.rid
      LEFT JOIN blob AS source ON source.rid=delta.srcid
    WHERE blob.rid BETWEEN ? AND ? AND ${IS_SENT} AND blob.rid NOT IN (${SPECIAL})
    ORDER BY blob.rid DESC)`;

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
  const row = db.row<{ cards: Uint8Array | null; artifacts: number }>(
    CARDS,
    first,
    next - 1,
    first,
    next - 1,
    first,
  );
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
 * Sends the artifacts of a range that cannot be sent as they are stored: their full texts.
 *
 * @returns the row before which the answer is full; the end of the range if it is not
 */
function sendSpecial(exchange: Exchange, first: number, end: number): number {
  const { repository: { db, store }, out, sendsPrivate, counts } = exchange;
  const rows = db.rows<{ rid: number; uuid: string }>(
    `SELECT rid, uuid FROM blob
      WHERE rid IN (${SPECIAL}) AND rid BETWEEN ? AND ? AND ${IS_SENT} ORDER BY rid`,
    first,
    end - 1,
    first,
    first,
    end - 1,
  );
  for (const { rid, uuid: hash } of rows) {
    if (exchange.isFull && rid > first) return rid;
    exchange.check();
    const isPrivate = store.isPrivate(rid);
    if ((isPrivate && !sendsPrivate) || !store.isAvailable(rid)) continue;
    const content = store.require(rid);
    if (isPrivate) out.add({ kind: "private" });
    out.add({
      kind: "cfile",
      hash,
      source: null,
      size: content.length,
      content: packBlob(content),
    });
    counts.artifactsSent++;
  }
  return end;
}
