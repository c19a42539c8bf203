import { shownText } from "../artifact/mod.ts";
import { isHex } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { timestampOf } from "./checkins.ts";
import { pageOf, type Paging } from "./paging.ts";
import type { Reader } from "./reader.ts";
import type { TechnoteList, TechnotePage, TechnoteRef, TechnoteVersion } from "./shapes.ts";

/** Default markup of a note. */
const DEFAULT_MIMETYPE = "text/x-fossil-wiki";
/** Shortest prefix of a note's id. */
const MIN_PREFIX = 4;
const MAX_ID = 64;

interface NoteRow {
  readonly id: string;
  readonly rid: number;
  readonly uuid: string;
  /** Julian day of the version. */
  readonly mtime: number;
}

/** The version of each note that came last. */
const LATEST = `SELECT substr(tagname,7) AS id, tagxref.rid, uuid, max(tagxref.mtime) AS mtime
    FROM tag CROSS JOIN tagxref USING(tagid) JOIN blob ON blob.rid=tagxref.rid
   WHERE tagname GLOB 'event-*' AND tagtype>0 GROUP BY tag.tagid`;

/** A page of technotes at their latest versions, newest in the timeline first. */
export function listTechnotes(reader: Reader, paging: Paging = {}): TechnoteList {
  return reader.read(() => {
    const { db } = reader.repository;
    const { limit, offset } = pageOf(paging);
    const rows = db.rows<NoteRow>(
      `SELECT latest.* FROM (${LATEST}) AS latest JOIN event ON objid=rid AND type='e'
        ORDER BY event.mtime DESC, objid DESC LIMIT ? OFFSET ?`,
      limit,
      offset,
    );
    const count = `SELECT count(*) FROM (${LATEST}) JOIN event ON objid=rid AND type='e'`;
    const technotes = rows.map((row) => refOf(row, noteOf(reader, row)));
    return { technotes, total: db.value<number>(count) ?? 0 };
  });
}

/**
 * A technote.
 *
 * @param id its id, or a prefix of at least 4 digits; or the hash of one of its versions.
 * @param version hash of one of its versions; absent for the latest.
 * @throws {FossilError} `missing` if there is no such note or version; `ambiguous` if a prefix fits
 * several.
 */
export function readTechnote(reader: Reader, id: string, version?: string): TechnotePage {
  return reader.read(() => {
    const versions = versionsOf(reader, idOfVersion(reader, id) ?? id);
    const row = version === undefined
      ? versions[0]
      : versions.find(({ uuid }) => uuid === version.toLowerCase());
    if (row === undefined) throw new FossilError("missing", `There is no technote "${id}"`);
    const note = noteOf(reader, row);
    return {
      ...refOf(row, note),
      mimetype: note.mimetype ?? DEFAULT_MIMETYPE,
      content: note.text,
      versions: versions.map((one): TechnoteVersion => ({
        uuid: one.uuid,
        timestamp: timestampOf(one.mtime),
        user: shownText(noteOf(reader, one).user ?? "", "name"),
      })),
    };
  });
}

/** The id of the note that has a version of this hash; the timeline names notes so. */
function idOfVersion({ repository: { db } }: Reader, uuid: string): string | undefined {
  return db.value<string>(
    `SELECT substr(tagname,7) FROM blob CROSS JOIN tagxref USING(rid) JOIN tag USING(tagid)
      WHERE uuid=? AND tagname GLOB 'event-*' AND tagtype>0`,
    uuid.toLowerCase(),
  );
}

/** Versions of the one note that an id or a prefix fits, newest first. */
function versionsOf(reader: Reader, id: string): NoteRow[] {
  const prefix = id.toLowerCase();
  if (prefix.length < MIN_PREFIX || prefix.length > MAX_ID || !isHex(prefix)) return [];
  const rows = reader.repository.db.rows<NoteRow>(
    `SELECT substr(tagname,7) AS id, tagxref.rid, uuid, tagxref.mtime
       FROM tag CROSS JOIN tagxref USING(tagid) JOIN blob ON blob.rid=tagxref.rid
      WHERE tagname>=? AND tagname<? AND tagtype>0 ORDER BY tagxref.mtime DESC, tagxref.rid DESC`,
    `event-${prefix}`,
    `event-${prefix}g`,
  );
  if (new Set(rows.map((row) => row.id)).size > 1) {
    throw new FossilError("ambiguous", `"${id}" fits several technotes`);
  }
  return rows;
}

function noteOf(reader: Reader, { rid, uuid }: NoteRow) {
  const artifact = reader.repository.artifact(rid);
  if (artifact?.kind === "technote") return artifact;
  throw new FossilError("missing", `Version "${uuid}" of a technote is not here`);
}

function refOf({ id, uuid, mtime }: NoteRow, note: ReturnType<typeof noteOf>): TechnoteRef {
  return {
    id,
    uuid,
    timestamp: new Date(note.eventDate).toISOString(),
    last_modified: timestampOf(mtime),
    user: shownText(note.user ?? "", "name"),
    comment: shownText(note.comment ?? "", "comment"),
    color: note.tags.find(({ name }) => name === "bgcolor")?.value ?? null,
    tags: note.tags.map(({ name }) => name).filter((name) => name.startsWith("sym-"))
      .map((name) => name.slice("sym-".length)),
  };
}
