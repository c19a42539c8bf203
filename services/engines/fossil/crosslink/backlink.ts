/** The table `backlink`: which texts refer to which artifacts. */
import { isHex } from "../codec/mod.ts";
import type { LinkContext } from "./context.ts";
import { fossilWikiLinks } from "./markup/fossil_wiki.ts";
import { markdownLinks } from "./markup/markdown.ts";

/** `backlink.srctype`: the kind of text that has the link. */
const SOURCE_TYPES = { comment: 0, ticket: 1, wiki: 2, technote: 3, forum: 4 } as const;

/** A text to search for links. */
export interface BacklinkSource {
  readonly type: keyof typeof SOURCE_TYPES;
  /** Row of the artifact; for a wiki page the id of its tag. */
  readonly id: number;
  /** Null counts as Fossil's wiki markup. */
  readonly mimetype: string | null;
  /** Julian day of the text. */
  readonly day: number;
}

const MIN_TARGET_LENGTH = 4;
const MAX_TARGET_LENGTH = 64;
const INFO_PATH = "/info/";

/** Replaces the links of a source with those of a text. */
export function extractBacklinks(ctx: LinkContext, text: string, source: BacklinkSource): void {
  clearBacklinks(ctx, source);
  addBacklinks(ctx, text, source);
}

/** Deletes the links of a source. */
function clearBacklinks(ctx: LinkContext, { type, id }: BacklinkSource): void {
  ctx.db.run("DELETE FROM backlink WHERE srctype=? AND srcid=?", SOURCE_TYPES[type], id);
}

/** Adds the links of a text to those that its source has. */
export function addBacklinks(ctx: LinkContext, text: string, source: BacklinkSource): void {
  for (const link of linksOf(ctx, text, source.mimetype)) {
    const target = targetHash(link);
    if (target === null) continue;
    ctx.db.run(
      "REPLACE INTO backlink(target,srctype,srcid,mtime) VALUES(?,?,?,?)",
      target,
      SOURCE_TYPES[source.type],
      source.id,
      source.day,
    );
  }
}

function linksOf(ctx: LinkContext, text: string, mimetype: string | null): string[] {
  if (mimetype === null || mimetype.includes("wiki")) {
    const htmlOnly = ctx.config.isOn("wiki-use-html");
    return fossilWikiLinks(text, htmlOnly);
  }
  return mimetype.includes("markdown") ? markdownLinks(text) : [];
}

/** The hash, or prefix of one, in a link; null for any other link. */
function targetHash(link: string): string | null {
  const named = link.length >= 10 && link.startsWith(INFO_PATH);
  const target = named ? link.slice(INFO_PATH.length) : link;
  if (link.length < MIN_TARGET_LENGTH || target.length > MAX_TARGET_LENGTH) return null;
  return isHex(target) ? target.toLowerCase() : null;
}
