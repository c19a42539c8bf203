import { TAG } from "../content/mod.ts";
import { timestampOf } from "./checkins.ts";
import type { Reader } from "./reader.ts";
import type { Statistics } from "./shapes.ts";

/** Statistics of a repository. */
export function readStatistics(reader: Reader): Statistics {
  return reader.read(() =>
    reader.cached("statistics", () => ({ value: count(reader), bytes: 1000 }))
  );
}

function count(reader: Reader): Statistics {
  const { db, config } = reader.repository;
  const number = (sql: string) => db.value<number | null>(sql) ?? 0;
  const day = (sql: string) => {
    const value = db.value<number | null>(sql) ?? null;
    return value === null ? null : timestampOf(value);
  };
  const tags = (pattern: string) =>
    number(`SELECT count(DISTINCT tagid) FROM tag JOIN tagxref USING(tagid)
             WHERE tagname GLOB '${pattern}' AND tagtype>0`);
  const branches = `SELECT DISTINCT value FROM tagxref
    WHERE tagid=${TAG.branch} AND tagtype>0 AND value IS NOT NULL`;
  const events = (type: string) => number(`SELECT count(*) FROM event WHERE type='${type}'`);
  return {
    project_name: config.get("project-name") ?? "",
    project_code: config.get("project-code") ?? "",
    checkin_count: events("ci"),
    file_count: number("SELECT count(*) FROM filename"),
    branch_count: number(`SELECT count(*) FROM (${branches} UNION SELECT 'trunk')`),
    tag_count: number(
      `SELECT count(DISTINCT tagid) FROM tag JOIN tagxref USING(tagid)
        WHERE tagname GLOB 'sym-*' AND tagtype>0
          AND substr(tagname,5) NOT IN (${branches} UNION SELECT 'trunk')`,
    ),
    ticket_count: db.hasTable("ticket") ? number("SELECT count(*) FROM ticket") : 0,
    wiki_page_count: tags("wiki-*"),
    technote_count: tags("event-*"),
    forum_post_count: db.hasTable("forumpost") ? number("SELECT count(*) FROM forumpost") : 0,
    user_count: number("SELECT count(*) FROM user"),
    artifact_count: number("SELECT count(*) FROM blob WHERE size>=0"),
    delta_count: number("SELECT count(*) FROM delta"),
    phantom_count: number("SELECT count(*) FROM phantom"),
    artifact_bytes: number("SELECT sum(size) FROM blob WHERE size>=0"),
    repository_bytes: number("PRAGMA page_count") * number("PRAGMA page_size"),
    first_checkin: day("SELECT min(mtime) FROM event WHERE type='ci'"),
    last_checkin: day("SELECT max(mtime) FROM event WHERE type='ci'"),
  };
}
