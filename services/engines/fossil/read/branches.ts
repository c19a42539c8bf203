import { shownText } from "../artifact/mod.ts";
import { TAG } from "../content/mod.ts";
import { branchColumn, timestampOf } from "./checkins.ts";
import type { Reader } from "./reader.ts";
import type { Branch, Tag } from "./shapes.ts";

/** Approximate memory of a branch or a tag, in bytes. */
const ENTRY_BYTES = 500;

interface BranchRow {
  readonly name: string;
  readonly mtime: number;
  readonly rid: number;
  readonly uuid: string;
  readonly user: string;
  readonly count: number;
  readonly isClosed: number;
  readonly isPrivate: number;
}

/**
 * Every branch, the one with the newest check-in first. As in the program, a branch is closed if
 * its newest check-in is. Check-ins that no tag puts on a branch are on "trunk".
 */
export function listBranches(reader: Reader): readonly Branch[] {
  return reader.read(() =>
    reader.cached("branches", () => {
      const value = branches(reader);
      return { value, bytes: value.length * ENTRY_BYTES };
    })
  );
}

function branches(reader: Reader): Branch[] {
  const rows = reader.repository.db.rows<BranchRow>(
    `SELECT name, mtime, rid, uuid, user, count,
         EXISTS(SELECT 1 FROM tagxref WHERE tagxref.rid=tip.rid AND tagid=${TAG.closed}
           AND tagtype>0) AS isClosed,
         EXISTS(SELECT 1 FROM private WHERE private.rid=tip.rid) AS isPrivate
        FROM (
          SELECT ${branchColumn("objid")} AS name, max(event.mtime) AS mtime, objid AS rid,
            blob.uuid, coalesce(event.euser,event.user,'') AS user, count(*) AS count
          FROM event JOIN blob ON blob.rid=objid WHERE event.type='ci' GROUP BY 1
        ) AS tip ORDER BY mtime DESC, name`,
  );
  return rows.map((row) => ({
    name: row.name,
    status: row.isClosed === 1 ? "closed" : "open",
    last_uuid: row.uuid,
    last_checkin: timestampOf(row.mtime),
    last_user: shownText(row.user, "name"),
    checkin_count: row.count,
    is_private: row.isPrivate === 1,
  }));
}

interface TagRow {
  readonly name: string;
  readonly mtime: number;
  readonly uuid: string;
  readonly user: string;
  readonly count: number;
}

/** Every symbolic name of check-ins that is not a branch, the newest check-in first. */
export function listTags(reader: Reader): readonly Tag[] {
  return reader.read(() =>
    reader.cached("tags", () => {
      const value = tags(reader);
      return { value, bytes: value.length * ENTRY_BYTES };
    })
  );
}

function tags(reader: Reader): Tag[] {
  const rows = reader.repository.db.rows<TagRow>(
    `SELECT substr(tagname,5) AS name, max(event.mtime) AS mtime, blob.uuid,
         coalesce(event.euser,event.user,'') AS user, count(*) AS count
        FROM tag CROSS JOIN tagxref USING(tagid) CROSS JOIN event ON objid=tagxref.rid
          CROSS JOIN blob ON blob.rid=objid
       WHERE tagname GLOB 'sym-*' AND tagtype>0 AND event.type='ci' AND substr(tagname,5)<>'trunk'
         AND substr(tagname,5) NOT IN
           (SELECT value FROM tagxref WHERE tagid=${TAG.branch} AND tagtype>0 AND value IS NOT NULL)
       GROUP BY tag.tagid ORDER BY 2 DESC, 1`,
  );
  return rows.map(({ name, mtime, uuid, user, count }) => ({
    name: shownText(name, "name"),
    uuid,
    timestamp: timestampOf(mtime),
    user: shownText(user, "name"),
    checkin_count: count,
  }));
}
