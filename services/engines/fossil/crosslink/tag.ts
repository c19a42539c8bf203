/** The tables `tag` and `tagxref`: tags on artifacts, and how they propagate to descendants. */
import type { ForumPost, TagCard, Technote, Wiki } from "../artifact/mod.ts";
import { TAG } from "../content/mod.ts";
import { extractBacklinks } from "./backlink.ts";
import type { LinkContext } from "./context.ts";
import { checkLeafLater, linkParents, reparent } from "./plink.ts";

/** `tagxref.tagtype`: cancelled, on its target alone, or on its target and its descendants. */
export const TAG_TYPE = { cancel: 0, single: 1, propagate: 2 } as const;

type TagType = typeof TAG_TYPE[keyof typeof TAG_TYPE];

/** `tagxref.tagtype` of a card's sign. */
export function tagTypeOf(sign: TagCard["sign"]): TagType {
  return sign === "-" ? TAG_TYPE.cancel : sign === "+" ? TAG_TYPE.single : TAG_TYPE.propagate;
}

/** A tag to be put on an artifact. */
export interface TagInsert {
  readonly name: string;
  readonly type: TagType;
  readonly value: string | null;
  /** Row of the artifact that has the T card. */
  readonly source: number;
  /** Julian day of that artifact. */
  readonly day: number;
  /** Row of the artifact that gets the tag. */
  readonly target: number;
}

/** Row id of a tag name; a new name is added. */
export function tagId(ctx: LinkContext, name: string): number {
  return ctx.db.value<number>("SELECT tagid FROM tag WHERE tagname=?", name) ??
    ctx.db.insert("INSERT INTO tag(tagname) VALUES(?)", name);
}

/**
 * Puts a tag on an artifact unless a newer card for the same tag is known. Returns the tag's id.
 */
export function insertTag(ctx: LinkContext, tag: TagInsert): number {
  const id = tagId(ctx, tag.name);
  const { target, day } = tag;
  const newer = "SELECT 1 FROM tagxref WHERE tagid=? AND rid=? AND mtime>=?";
  if (ctx.db.exists(newer, id, target, day)) return id;
  ctx.onTag?.(target, id);
  ctx.db.run(
    "REPLACE INTO tagxref(tagid,tagtype,srcid,origid,value,mtime,rid) VALUES(?,?,?,?,?,?,?)",
    id,
    tag.type,
    tag.source,
    target,
    tag.value,
    day,
    target,
  );
  if (id === TAG.branch) checkLeafLater(ctx, target);
  const value = tag.type === TAG_TYPE.cancel ? null : tag.value;
  applyProperty(ctx, id, { ...tag, value });
  const spreads = tag.type === TAG_TYPE.propagate;
  propagate(ctx, { id, spreads, origin: target, value, day }, target);
  return id;
}

/** Some tags are properties that other tables show. */
function applyProperty(ctx: LinkContext, id: number, tag: TagInsert): void {
  const { target, value, day } = tag;
  switch (id) {
    case TAG.bgcolor:
      ctx.db.run("UPDATE event SET bgcolor=? WHERE objid=?", value, target);
      break;
    case TAG.comment:
      ctx.db.run("UPDATE event SET ecomment=? WHERE objid=?", value, target);
      extractBacklinks(ctx, value ?? "", { type: "comment", id: target, mimetype: null, day });
      break;
    case TAG.user:
      ctx.db.run("UPDATE event SET euser=? WHERE objid=?", value, target);
      break;
    case TAG.private:
      ctx.store.notePrivate(target);
      break;
    case TAG.date:
      ctx.db.run(
        "UPDATE event SET mtime=julianday(?), omtime=coalesce(omtime,mtime) WHERE objid=?",
        value,
        target,
      );
      ctx.relinked++;
      break;
    case TAG.parent:
      if (tag.type === TAG_TYPE.single) reparent(ctx, target, value ?? "");
  }
}

interface Spread {
  readonly id: number;
  /** False: the tag ends here, and descendants lose the inherited tag. */
  readonly spreads: boolean;
  readonly origin: number;
  readonly value: string | null;
  readonly day: number;
}

/** Propagates a tag, or its end, along primary children until a check-in has its own card. */
function propagate(ctx: LinkContext, tag: Spread, start: number): void {
  const queue = [start];
  for (let parent = queue.pop(); parent !== undefined; parent = queue.pop()) {
    const children = ctx.db.rows<{ cid: number; doit: number }>(
      `SELECT cid, coalesce(srcid=0 AND tagxref.mtime<?, ?) AS doit
         FROM plink LEFT JOIN tagxref ON cid=rid AND tagid=?
        WHERE pid=? AND isprim`,
      tag.day,
      tag.spreads ? 1 : 0,
      tag.id,
      parent,
    );
    for (const { cid, doit } of children) {
      if (doit === 0) continue;
      queue.push(cid);
      carry(ctx, tag, cid);
    }
  }
}

function carry(ctx: LinkContext, { id, spreads, origin, value, day }: Spread, rid: number): void {
  ctx.onTag?.(rid, id);
  if (spreads) {
    ctx.db.run(
      "REPLACE INTO tagxref(tagid,tagtype,srcid,origid,value,mtime,rid) VALUES(?,2,0,?,?,?,?)",
      id,
      origin,
      value,
      day,
      rid,
    );
  } else {
    ctx.db.run("DELETE FROM tagxref WHERE tagid=? AND rid=?", id, rid);
  }
  if (id === TAG.bgcolor) {
    ctx.db.run("UPDATE event SET bgcolor=? WHERE objid=?", spreads ? value : null, rid);
  }
  if (id === TAG.branch) checkLeafLater(ctx, rid);
}

interface TagRow {
  readonly tagid: number;
  readonly tagtype: number;
  readonly mtime: number;
  readonly value: string | null;
  readonly origid: number;
}

/** Propagates every tag of a check-in to its children; needed when a new child arrives. */
export function propagateAll(ctx: LinkContext, rid: number): void {
  const tags = ctx.db.rows<TagRow>(
    "SELECT tagid, tagtype, mtime, value, origid FROM tagxref WHERE rid=?",
    rid,
  );
  for (const { tagid, tagtype, mtime, value, origid } of tags) {
    const spreads = tagtype === TAG_TYPE.propagate;
    propagate(ctx, { id: tagid, spreads, origin: origid, value, day: mtime }, rid);
  }
}

/** Links a version of a document to those before it. Returns the row of the first, or 0. */
export function linkVersions(
  ctx: LinkContext,
  rid: number,
  { parents, date }: Wiki | Technote | ForumPost,
): number {
  const prior = linkParents(ctx, rid, parents, date);
  if (prior !== 0) propagateAll(ctx, prior);
  return prior;
}
