/** The searchable texts of the repository, each with a kind and a name. */
import { decodeUtf8 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import {
  isBinary,
  listWikiPages,
  type Reader,
  readForumPost,
  readTechnote,
  readTicket,
  readWikiPage,
} from "../read/mod.ts";
import type { SearchKind } from "./shapes.ts";

/** A text of the index. */
export interface Document {
  readonly kind: SearchKind;
  /** See `INDEX_SCHEMA`. */
  readonly name: string;
  /** Detects changes of the text: a hash, or nothing. */
  readonly hash: string;
  readonly title: string;
  readonly body: string;
}

/** The comment of a check-in; null if the row is not a check-in. */
export function checkinDocument(reader: Reader, rid: number): Document | null {
  const body = reader.repository.db.value<string>(
    "SELECT coalesce(ecomment,comment,'') FROM event WHERE objid=? AND type='ci'",
    rid,
  );
  return body === undefined ? null : { kind: "checkin", name: `${rid}`, hash: "", title: "", body };
}

/** Title, description, comments and other fields of a ticket; null if there is none. */
export function ticketDocument(reader: Reader, ticket: string): Document | null {
  const found = orNull(() => readTicket(reader, ticket));
  if (found === null) return null;
  const { title, fields, comments } = found;
  const texts = Object.entries(fields)
    .filter(([name]) => name !== "title" && !name.startsWith("private_"))
    .map(([, value]) => value);
  const body = [...texts, ...comments.map(({ comment }) => comment)]
    .filter((text, i, all) => text !== "" && all.indexOf(text) === i).join("\n");
  return { kind: "ticket", name: ticket, hash: "", title, body };
}

/** The latest version of a wiki page; null if there is none or it is deleted. */
export function wikiDocument(reader: Reader, name: string): Document | null {
  const page = orNull(() => readWikiPage(reader, name));
  return page && { kind: "wiki", name, hash: page.uuid, title: name, body: page.content };
}

/** The latest version of a technote; null if there is none. */
export function technoteDocument(reader: Reader, id: string): Document | null {
  const note = orNull(() => readTechnote(reader, id));
  if (note === null) return null;
  return { kind: "technote", name: id, hash: note.uuid, title: note.comment, body: note.content };
}

/**
 * The name of a forum post: the hash of its first version; null if there is none.
 *
 * @param uuid hash of any of its versions.
 */
export function forumName(reader: Reader, uuid: string): string | null {
  return orNull(() => readForumPost(reader, uuid))?.uuid ?? null;
}

/**
 * The latest version of a forum post; null if there is none or it is deleted.
 *
 * @param uuid hash of any of its versions.
 */
export function forumDocument(reader: Reader, uuid: string): Document | null {
  const post = orNull(() => readForumPost(reader, uuid));
  if (post === null || post.is_deleted) return null;
  const title = post.in_reply_to === null ? post.title : "";
  return { kind: "forum", name: post.uuid, hash: post.latest_uuid, title, body: post.content };
}

/**
 * A file as text; null if it is binary, missing, or too large.
 *
 * @param maxBytes the size above which a file is left out.
 */
export function codeDocument(
  reader: Reader,
  path: string,
  hash: string,
  maxBytes: number,
): Document | null {
  const { store } = reader.repository;
  const rid = store.ridOf(hash);
  const size = rid === 0 ? -1 : store.sizeOf(rid);
  if (size < 0 || size > maxBytes) return null;
  const content = store.get(rid);
  if (content === null || isBinary(content)) return null;
  return { kind: "code", name: path, hash, title: path, body: decodeUtf8(content) };
}

/** Everything but code, for an index that is made again. */
export function* allDocuments(reader: Reader): Generator<Document> {
  const { db } = reader.repository;
  const checkins = db.rows<{ objid: number }>("SELECT objid FROM event WHERE type='ci'");
  for (const { objid } of checkins) yield* present(checkinDocument(reader, objid));
  const tickets = db.hasTable("ticket")
    ? db.rows<{ tkt_uuid: string }>("SELECT tkt_uuid FROM ticket")
    : [];
  for (const { tkt_uuid } of tickets) yield* present(ticketDocument(reader, tkt_uuid));
  for (const { name } of listWikiPages(reader)) yield* present(wikiDocument(reader, name));
  const notes = "SELECT substr(tagname,7) AS id FROM tag WHERE tagname GLOB 'event-*'";
  for (const { id } of db.rows<{ id: string }>(notes)) yield* present(technoteDocument(reader, id));
  const posts = db.hasTable("forumpost")
    ? db.rows<{ uuid: string }>(
      "SELECT uuid FROM forumpost JOIN blob ON rid=fpid WHERE fprev IS NULL",
    )
    : [];
  for (const { uuid } of posts) yield* present(forumDocument(reader, uuid));
}

function present(document: Document | null): Document[] {
  return document === null ? [] : [document];
}

function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof FossilError && error.code === "missing") return null;
    throw error;
  }
}
