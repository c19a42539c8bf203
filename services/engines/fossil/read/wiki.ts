import { shownText, type Wiki } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import { REF_COLUMNS, type RefRow, timestampOf } from "./checkins.ts";
import type { Reader } from "./reader.ts";
import type { WikiDiff, WikiPage, WikiPageRef, WikiVersion } from "./shapes.ts";
import { unifiedDiff } from "./unified.ts";

/** Default markup of a page. */
const DEFAULT_MIMETYPE = "text/x-fossil-wiki";

/** Default number of lines of context in a diff. */
const DEFAULT_CONTEXT = 3;

interface PageRow extends RefRow {
  readonly name: string;
  /** Bytes of the text; 0 for a deletion. */
  readonly textSize: string;
}

/** Titles of the pages that belong to a branch or a check-in. */
const ASSOCIATED = /^(?:branch|checkin)\//;

/** Which wiki pages to list. */
export interface WikiListOptions {
  readonly deleted?: boolean;
  readonly associated?: boolean;
}

/** Two versions of a page, each by its hash or a prefix of it. */
export interface WikiDiffOptions {
  readonly name: string;
  /** Absent for the version before `to`. */
  readonly from?: string;
  /** Absent for the latest version. */
  readonly to?: string;
  /** Lines around each change, 3 if absent. */
  readonly context?: number;
}

/**
 * Every wiki page at its latest version, the most recently changed first.
 *
 * @param options `deleted` lists deleted pages too; `associated: false` leaves out those that belong
 * to a branch or a check-in.
 */
export function listWikiPages(
  reader: Reader,
  { deleted = false, associated = true }: WikiListOptions = {},
): WikiPageRef[] {
  return reader.read(() => {
    const rows = reader.repository.db.rows<PageRow>(
      `SELECT substr(tagname,6) AS name, textSize, ${REF_COLUMNS} FROM (
         SELECT tagname, tagxref.rid AS latest, tagxref.value AS textSize, max(tagxref.mtime)
           FROM tag CROSS JOIN tagxref USING(tagid)
          WHERE tagname GLOB 'wiki-*' AND tagtype>0 GROUP BY tag.tagid
       ) JOIN event ON objid=latest JOIN blob ON blob.rid=latest
       ORDER BY event.mtime DESC, objid DESC`,
    );
    return rows.map(pageRef).filter(({ name, is_deleted }) =>
      (deleted || !is_deleted) && (associated || !ASSOCIATED.test(name))
    );
  });
}

function pageRef({ name, textSize, uuid, mtime, user }: PageRow): WikiPageRef {
  return {
    name,
    uuid,
    last_modified: timestampOf(mtime),
    user: shownText(user, "name"),
    is_deleted: Number(textSize) === 0,
  };
}

/**
 * A wiki page.
 *
 * @param version hash of one of its versions; absent for the latest.
 * @throws {FossilError} `missing` if there is no such page or version, or if the latest version
 * deletes the page and `version` is absent.
 */
export function readWikiPage(reader: Reader, name: string, version?: string): WikiPage {
  return reader.read(() => {
    const row = version === undefined
      ? latestOf(reader, name)
      : versionOf(reader, name, version.toLowerCase());
    const isGone = row === undefined || (version === undefined && Number(row.textSize) === 0);
    if (isGone) throw new FossilError("missing", `There is no wiki page "${name}"`);
    const wiki = wikiOf(reader, row.uuid);
    return {
      ...pageRef(row),
      mimetype: wiki.mimetype ?? DEFAULT_MIMETYPE,
      content: wiki.text,
    };
  });
}

function wikiOf(reader: Reader, uuid: string): Wiki {
  const artifact = reader.repository.artifact(reader.repository.ridOf(uuid));
  if (artifact?.kind === "wiki") return artifact;
  throw new FossilError("missing", `Version "${uuid}" of a wiki page is not here`);
}

/**
 * Every version of a wiki page, newest first.
 *
 * @throws {FossilError} `missing` if no such page ever existed.
 */
export function readWikiHistory(reader: Reader, name: string): WikiVersion[] {
  return reader.read(() => {
    const versions = versionsOf(reader, name);
    if (versions.length === 0) throw new FossilError("missing", `There is no wiki page "${name}"`);
    return versions.map(versionShape);
  });
}

/** The newest version of a wiki page, a deletion too; null if no such page ever existed. */
export function readLatestWikiVersion(reader: Reader, name: string): WikiVersion | null {
  return reader.read(() => {
    const row = latestOf(reader, name);
    return row === undefined ? null : versionShape(row);
  });
}

function versionShape({ uuid, mtime, user, textSize }: PageRow): WikiVersion {
  return {
    uuid,
    timestamp: timestampOf(mtime),
    user: shownText(user, "name"),
    size: Number(textSize),
  };
}

/**
 * The differences between two versions of a wiki page.
 *
 * @throws {FossilError} `missing` if there is no such page or version; `ambiguous` if a prefix fits
 * several versions.
 */
export function readWikiDiff(reader: Reader, options: WikiDiffOptions): WikiDiff {
  const { name, from, to, context = DEFAULT_CONTEXT } = options;
  return reader.read(() => {
    const versions = versionsOf(reader, name);
    const newer = to === undefined ? 0 : placeOf(versions, to, name);
    const older = from === undefined ? newer + 1 : placeOf(versions, from, name);
    const textOf = (row: PageRow | undefined) =>
      new TextEncoder().encode(row === undefined ? "" : wikiOf(reader, row.uuid).text);
    const [before, after] = [versions[older], versions[newer]];
    if (after === undefined) throw new FossilError("missing", `There is no wiki page "${name}"`);
    const { hunks, added, deleted } = unifiedDiff(textOf(before), textOf(after), context);
    return { name, from: before?.uuid ?? null, to: after.uuid, added, deleted, diff: hunks };
  });
}

/** The place of a version in the history of a page. */
function placeOf(versions: readonly PageRow[], version: string, name: string): number {
  const prefix = version.toLowerCase();
  const fitting = versions.filter(({ uuid }) => uuid.startsWith(prefix));
  if (fitting.length > 1) {
    throw new FossilError("ambiguous", `"${version}" fits several versions of "${name}"`);
  }
  if (fitting[0] === undefined) {
    throw new FossilError("missing", `The wiki page "${name}" has no version "${version}"`);
  }
  return versions.indexOf(fitting[0]);
}

/** The versions of a page, to be narrowed down and ordered. */
const VERSIONS = `SELECT substr(tagname,6) AS name, tagxref.value AS textSize, ${REF_COLUMNS}
  FROM tag CROSS JOIN tagxref USING(tagid) JOIN event ON objid=tagxref.rid
    JOIN blob ON blob.rid=objid
 WHERE tagname=? AND tagtype>0`;

const NEWEST_FIRST = "ORDER BY tagxref.mtime DESC, tagxref.rid DESC";

/** Every version, newest first. */
function versionsOf(reader: Reader, name: string): PageRow[] {
  return reader.repository.db.rows<PageRow>(`${VERSIONS} ${NEWEST_FIRST}`, `wiki-${name}`);
}

function latestOf(reader: Reader, name: string): PageRow | undefined {
  return reader.repository.db.row<PageRow>(`${VERSIONS} ${NEWEST_FIRST} LIMIT 1`, `wiki-${name}`);
}

/** @param uuid its whole hash */
function versionOf(reader: Reader, name: string, uuid: string): PageRow | undefined {
  const rid = reader.repository.store.ridOf(uuid);
  return reader.repository.db.row<PageRow>(`${VERSIONS} AND tagxref.rid=?`, `wiki-${name}`, rid);
}
