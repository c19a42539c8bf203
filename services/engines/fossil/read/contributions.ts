import { shownText } from "../artifact/mod.ts";
import { ancestryOf } from "./ancestry.ts";
import { timestampOf } from "./checkins.ts";
import type { Reader } from "./reader.ts";
import type { Contributions } from "./shapes.ts";

/** Approximate memory of a contributor or a month, in bytes. */
const ENTRY_BYTES = 300;

/**
 * Check-ins, without the empty one with which `fossil` begins a repository: it has no parent and no
 * file, and nobody contributed it.
 */
const CONTRIBUTED = `FROM event WHERE type='ci' AND (objid IN (SELECT cid FROM plink)
  OR objid IN (SELECT mid FROM mlink))`;

/** Who made check-ins, and how many were made in each month (UTC). */
export function readContributions(reader: Reader): Contributions {
  return reader.read(() =>
    reader.cached("contributions", () => {
      const value = contributions(reader);
      const entries = value.contributors.length + value.months.length;
      return { value, bytes: entries * ENTRY_BYTES };
    })
  );
}

interface UserRow {
  readonly user: string;
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

function contributions({ repository: { db } }: Reader): Contributions {
  const users = db.rows<UserRow>(
    `SELECT coalesce(euser,user,'') AS user, count(*) AS count, min(mtime) AS first,
        max(mtime) AS last
      ${CONTRIBUTED} GROUP BY 1 ORDER BY count DESC, user`,
  );
  const months = db.rows<{ month: string; count: number }>(
    `SELECT strftime('%Y-%m',mtime) AS month, count(*) AS count
      ${CONTRIBUTED} GROUP BY 1 ORDER BY 1`,
  );
  return {
    contributors: users.map(({ user, count, first, last }) => ({
      user: shownText(user, "name"),
      checkin_count: count,
      first_checkin: timestampOf(first),
      last_checkin: timestampOf(last),
    })),
    months: months.map(({ month, count }) => ({ month, checkin_count: count })),
  };
}

/** The check-ins that one has in its history, and another one has not. */
export interface UsersOptions {
  /** The whole id of the first one. */
  readonly checkin: string;
  /** The whole id of the other; null for none. */
  readonly base: string | null;
}

/**
 * The users of the check-ins that a check-in has in its history, with itself, and a base has not: the
 * user that each names, the user that an amendment names, and who sent it here. Each comes once.
 */
export function readUsers(reader: Reader, { checkin, base }: UsersOptions): readonly string[] {
  return reader.read(() => {
    const { db, store } = reader.repository;
    const ancestry = ancestryOf(reader);
    const marks = ancestry.ancestors(store.ridOf(checkin));
    const known = base === null ? null : ancestry.ancestors(store.ridOf(base));
    const rids: number[] = [];
    marks.forEach((mark, rid) => {
      if (mark === 1 && known?.[rid] !== 1) rids.push(rid);
    });
    const rows = db.rows<{ user: string }>(
      `WITH its(rid) AS (SELECT value FROM json_each(?))
        SELECT user FROM event JOIN its ON rid=objid WHERE type='ci' AND user IS NOT NULL
        UNION SELECT euser FROM event JOIN its ON rid=objid WHERE type='ci' AND euser IS NOT NULL
        UNION SELECT login FROM its JOIN blob USING(rid) JOIN rcvfrom USING(rcvid) JOIN user USING(uid)`,
      JSON.stringify(rids),
    );
    return rows.map(({ user }) => user);
  });
}
