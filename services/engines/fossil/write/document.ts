import { randomBytes } from "node:crypto";
import type { TagCard } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, dateAfter, writeAs } from "./author.ts";

/** A version of a wiki page to write. */
export interface NewWiki extends Author {
  readonly title: string;
  /** Empty text deletes the page. */
  readonly text: string;
  /** Absent for Fossil's own wiki markup. */
  readonly mimetype?: string;
  readonly comment?: string;
  /** Hash of the version that was edited, null for a new page; absent to take the latest. */
  readonly basedOn?: string | null;
}

/**
 * Writes a version of a wiki page. Returns its hash.
 *
 * @throws {FossilError} `conflict` if `basedOn` is no longer the latest version.
 */
export function writeWiki(repository: Repository, wiki: NewWiki): string {
  return writeAs(repository, wiki, () => {
    const latest = latestVersion(repository, `wiki-${wiki.title}`);
    if (wiki.basedOn !== undefined && wiki.basedOn !== (latest?.hash ?? null)) {
      throw new FossilError("conflict", `Wiki page "${wiki.title}" has changed`);
    }
    return repository.add({
      kind: "wiki",
      comment: wiki.comment ?? null,
      date: dateAfter(wiki, latest?.day),
      title: wiki.title,
      mimetype: wiki.mimetype ?? null,
      parents: latest === null ? [] : [latest.hash],
      user: wiki.user,
      text: wiki.text,
    });
  });
}

interface Version {
  readonly hash: string;
  /** Julian day. */
  readonly day: number;
}

/** The newest artifact that has a tag. */
function latestVersion(repository: Repository, tag: string): Version | null {
  const row = repository.db.row<Version>(
    `SELECT blob.uuid AS hash, tagxref.mtime AS day
       FROM tag JOIN tagxref USING(tagid) JOIN blob USING(rid)
      WHERE tagname=? ORDER BY tagxref.mtime DESC LIMIT 1`,
    tag,
  );
  return row ?? null;
}

/** A version of a technote to write. */
export interface NewTechnote extends Author {
  /** Id of an existing note; absent for a new one. */
  readonly id?: string;
  /** Time of the note in the timeline, in Unix milliseconds. */
  readonly eventDate: number;
  /** One line for the timeline. */
  readonly comment: string;
  readonly text: string;
  readonly mimetype?: string;
  /** Symbolic names under which the note can be found. */
  readonly tags?: readonly string[];
  readonly color?: string;
  /** Hash of the version that was edited; absent for the latest. */
  readonly basedOn?: string;
}

/**
 * Writes a version of a technote. Returns the id of the note and the hash of the version.
 *
 * @throws {FossilError} `missing` if there is no such note; `conflict` if `basedOn` is no longer the
 * latest version.
 */
export function writeTechnote(
  repository: Repository,
  note: NewTechnote,
): { id: string; hash: string } {
  return writeAs(repository, note, () => {
    const id = note.id ?? randomBytes(20).toString("hex");
    const latest = latestVersion(repository, `event-${id}`);
    if (note.id !== undefined && latest === null) {
      throw new FossilError("missing", `Technote "${id}" is unknown`);
    }
    if (note.basedOn !== undefined && note.basedOn !== latest?.hash) {
      throw new FossilError("conflict", `The technote "${id}" has changed`);
    }
    const tag = (name: string, value: string | null): TagCard => ({
      sign: "+",
      name,
      target: null,
      value,
    });
    const color = note.color === undefined ? [] : [tag("bgcolor", note.color)];
    const hash = repository.add({
      kind: "technote",
      comment: note.comment,
      date: dateAfter(note, latest?.day),
      eventDate: note.eventDate,
      id,
      mimetype: note.mimetype ?? null,
      parents: latest === null ? [] : [latest.hash],
      tags: [...color, ...(note.tags ?? []).map((name) => tag(`sym-${name}`, null))],
      user: note.user,
      text: note.text,
    });
    return { id, hash };
  });
}
