import { shownText } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { type SqlValue, TAG } from "../content/mod.ts";
import { TextMap } from "../text/mod.ts";
import { branchColumn, timestampOf } from "./checkins.ts";
import type { Reader } from "./reader.ts";
import type { Branch, Tag } from "./shapes.ts";

/** Approximate memory of a branch or a tag, in bytes. */
const ENTRY_BYTES = 500;

interface BranchRow {
  readonly uuid: string;
  readonly user: string;
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

/** The newest of a list, and how many it has. */
export interface Newest<Entry> {
  readonly newest: readonly Entry[];
  readonly total: number;
}

/** At most so many tags. */
export function newestTags(reader: Reader, most: number): Newest<Tag> {
  const all = listTags(reader);
  return { newest: all.slice(0, most), total: all.length };
}

function branches(reader: Reader): Branch[] {
  const tips = tipsOf(reader).sorted();
  const rows = reader.repository.db.rows<BranchRow>(
    `SELECT blob.uuid, coalesce(event.euser,event.user,'') AS user,
         EXISTS(SELECT 1 FROM tagxref WHERE tagxref.rid=objid AND tagid=${TAG.closed}
           AND tagtype>0) AS isClosed,
         EXISTS(SELECT 1 FROM private WHERE private.rid=objid) AS isPrivate
        FROM json_each(?) AS tip CROSS JOIN event ON objid=tip.value
          CROSS JOIN blob ON blob.rid=objid ORDER BY tip.key`,
    JSON.stringify(tips.map(({ rid }) => rid)),
  );
  return rows.map(({ uuid, user, isClosed, isPrivate }, i) => ({
    name: tips[i]!.name,
    status: isClosed === 1 ? "closed" : "open",
    last_uuid: uuid,
    last_checkin: timestampOf(tips[i]!.mtime),
    last_user: shownText(user, "name"),
    checkin_count: tips[i]!.count,
    is_private: isPrivate === 1,
  }));
}

/** A branch: its newest check-in, and how many are on it. */
interface Tip {
  readonly name: string;
  rid: number;
  /** Julian day of the check-in. */
  mtime: number;
  count: number;
}

/** A check-in on a branch. */
interface PlacedRow {
  readonly rid: number;
  readonly name: string;
  readonly mtime: number;
}

/** The branches of all check-ins. */
class Tips {
  readonly #byName = new TextMap<Tip>();
  readonly #byCheckin = new Map<number, Tip>();

  /** The branch with the newest check-in first. */
  sorted(): readonly Tip[] {
    return [...this.#byName.values()].sort((left, right) =>
      right.mtime - left.mtime || compareUtf8(left.name, right.name)
    );
  }

  /** Adds check-ins; false if one of them was on another branch or is older now. */
  add(rows: readonly PlacedRow[]): boolean {
    return rows.every(({ rid, name, mtime }) => {
      let tip = this.#byName.get(name);
      const before = this.#byCheckin.get(rid);
      if (before !== undefined && before !== tip) return false;
      if (tip?.rid === rid && mtime < tip.mtime) return false;
      if (tip === undefined) {
        tip = { name, rid, mtime, count: 0 };
        this.#byName.set(name, tip);
      }
      if (mtime > tip.mtime) [tip.rid, tip.mtime] = [rid, mtime];
      if (before === undefined) tip.count++;
      this.#byCheckin.set(rid, tip);
      return true;
    });
  }

  /** Approximate memory, in bytes. */
  get bytes(): number {
    return this.#byCheckin.size * 40 + this.#byName.size * ENTRY_BYTES;
  }
}

function tipsOf(reader: Reader): Tips {
  const rows = (from: string, ...values: readonly SqlValue[]) =>
    reader.repository.db.rows<PlacedRow>(
      `SELECT objid AS rid, ${
        branchColumn("objid")
      } AS name, mtime FROM ${from} WHERE event.type='ci'`,
      ...values,
    );
  return reader.lasting("tips", () => {
    const value = new Tips();
    value.add(rows("event"));
    return { value, bytes: value.bytes };
  }, ({ value }, touched) => {
    const isSound = value.add(
      rows(
        "json_each(?) AS touched CROSS JOIN event ON objid=touched.value",
        JSON.stringify(touched),
      ),
    );
    return isSound ? { value, bytes: value.bytes } : null;
  });
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
