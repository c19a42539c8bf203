/**
 * The derived tables of a repository in a form that can be compared: ids that depend on the order
 * of arrival are replaced by what they stand for.
 */
import { createHash } from "node:crypto";
import { DatabaseSync, type StatementSync } from "node:sqlite";

const artifact = (column: string) =>
  `coalesce((SELECT uuid FROM blob WHERE blob.rid=${column}),${column})`;
const tag = (column: string) => `(SELECT tagname FROM tag WHERE tag.tagid=${column})`;
const file = (column: string) => `(SELECT name FROM filename WHERE filename.fnid=${column})`;
/** The program prints some doubles with 16 digits, so that the last ones are lost: milliseconds. */
const day = (column: string) => `round((${column}-2440587.5)*86400000)`;

/** Whether links of an edited comment have the date of check-in or edit depends on the order. */
const commentEdited = `srctype=0 AND EXISTS(SELECT 1 FROM tagxref
  WHERE tagxref.rid=backlink.srcid AND tagxref.tagid=2)`;

const QUERIES: Readonly<Record<string, string>> = {
  blob: "SELECT uuid, size FROM blob",
  event: `SELECT type, ${day("mtime")} AS mtime, ${artifact("objid")} AS obj, ${
    tag("event.tagid")
  } AS tag,
    bgcolor, euser, user, ecomment, comment, brief, ${day("omtime")} AS omtime FROM event`,
  plink: `SELECT ${artifact("pid")} AS parent, ${artifact("cid")} AS child, isprim,
    ${day("mtime")} AS mtime, ${artifact("baseid")} AS base FROM plink`,
  mlink: `SELECT ${artifact("mid")} AS checkin, ${artifact("fid")} AS file, ${
    artifact("pmid")
  } AS parent,
    ${artifact("pid")} AS old, ${file("mlink.fnid")} AS name, ${
    file("pfnid")
  } AS oldname, mperm, isaux FROM mlink`,
  filename: "SELECT name FROM filename",
  leaf: `SELECT ${artifact("leaf.rid")} AS checkin FROM leaf`,
  phantom: `SELECT ${artifact("phantom.rid")} AS artifact FROM phantom`,
  private: `SELECT ${artifact("private.rid")} AS artifact FROM private`,
  unclustered: `SELECT ${artifact("unclustered.rid")} AS artifact FROM unclustered`,
  orphan: `SELECT ${artifact("orphan.rid")} AS artifact, ${
    artifact("baseline")
  } AS base FROM orphan`,
  tagxref: `SELECT ${tag("tagxref.tagid")} AS tag, tagtype, ${artifact("srcid")} AS source,
    ${artifact("origid")} AS origin, value, ${day("mtime")} AS mtime, ${
    artifact("tagxref.rid")
  } AS target
    FROM tagxref WHERE tagid<>7`,
  cluster: `SELECT ${artifact("tagxref.rid")} AS target FROM tagxref WHERE tagid=7`,
  tag: "SELECT tagname FROM tag",
  backlink: `SELECT target, srctype, iif(${commentEdited}, NULL, ${day("mtime")}) AS mtime,
    CASE srctype WHEN 2 THEN ${tag("backlink.srcid")} ELSE ${
    artifact("srcid")
  } END AS source FROM backlink`,
  attachment: `SELECT ${artifact("attachid")} AS artifact, isLatest, ${
    day("mtime")
  } AS mtime, src, target,
    filename, comment, user FROM attachment`,
  cherrypick: `SELECT ${artifact("parentid")} AS parent, ${artifact("childid")} AS child, isExclude
    FROM cherrypick`,
  forumpost: `SELECT ${artifact("fpid")} AS post, ${artifact("froot")} AS root, ${
    artifact("fprev")
  } AS prior,
    ${artifact("firt")} AS answered, ${day("fmtime")} AS mtime FROM forumpost`,
  ticket: "SELECT * FROM ticket",
  ticketchng: `SELECT ticketchng.*,
    (SELECT tkt_uuid FROM ticket WHERE ticket.tkt_id=ticketchng.tkt_id) AS ticket FROM ticketchng`,
};

/** Ids that are given anew by every rebuild. */
const VOLATILE = ["tkt_id", "tkt_rid"];

/** The link of a control artifact to a branch: its name is encoded since Fossil 2.28 only. */
const BRANCH_LINK = ["/timeline?r=", "&nd"] as const;

function withoutBranch(line: string): string {
  const [start, end] = BRANCH_LINK;
  const from = line.indexOf(start) + start.length;
  const to = line.indexOf(end, from);
  return from < start.length || to < 0 ? line : line.slice(0, from) + line.slice(to);
}

/** Calls `take` with each row of each derived table, as a line of text, in no order. */
export function readTables(
  path: string,
  skip: readonly string[],
  take: (table: string, line: string) => void,
): void {
  const db = new DatabaseSync(path, { readOnly: true });
  // Deno 2.4 crashes if it collects a statement whose rows are still being read.
  const inUse: StatementSync[] = [];
  try {
    const present = db.prepare("SELECT name FROM sqlite_schema WHERE type='table'").all();
    const tables = new Set(["cluster", ...present.map((row) => String(row["name"]))]);
    for (const [table, query] of Object.entries(QUERIES)) {
      if (!tables.has(table) || skip.includes(table)) continue;
      const statement = db.prepare(query);
      inUse.push(statement);
      for (const row of statement.iterate()) {
        const entries = Object.entries(row).filter(([name]) => !VOLATILE.includes(name));
        const line = JSON.stringify(Object.fromEntries(entries.map(roundDay)));
        take(table, withoutBranch(line));
      }
      inUse.pop();
    }
  } finally {
    db.close();
  }
}

function roundDay([name, value]: [string, unknown]): [string, unknown] {
  return /^tkt_[mc]time$/.test(name)
    ? [name, Math.round(Number(value) * 86_400_000)]
    : [name, value];
}

/**
 * A text for each derived table that tells its rows from any others, whatever their order.
 */
export function fingerprintTables(path: string): ReadonlyMap<string, string> {
  const sums = new Map<string, { rows: number; sum: bigint }>();
  readTables(path, [], (table, line) => {
    const held = sums.get(table) ?? { rows: 0, sum: 0n };
    const hash = createHash("sha256").update(line).digest().readBigUInt64BE();
    sums.set(table, { rows: held.rows + 1, sum: BigInt.asUintN(64, held.sum + hash) });
  });
  return new Map(Array.from(sums, ([table, { rows, sum }]) => [table, `${rows} ${sum}`]));
}
