/** Wiki pages: every version is a tag "wiki-TITLE" on itself and a line of the timeline. */
import type { Wiki } from "../artifact/mod.ts";
import { encodeUtf8, toJulianDay } from "../codec/mod.ts";
import { extractBacklinks } from "./backlink.ts";
import type { LinkContext } from "./context.ts";
import { putEvent } from "./event.ts";
import { linkVersions } from "./version.ts";
import { insertTag, TAG_TYPE } from "./tag.ts";

/** Text without the white space before it; its length in bytes is the value of the version's tag. */
export function trimStart(text: string): string {
  return text.replace(/^[ \t\n\v\f\r]+/, "");
}

export function linkWiki(ctx: LinkContext, rid: number, wiki: Wiki): void {
  const prior = linkVersions(ctx, rid, wiki);
  const length = encodeUtf8(trimStart(wiki.text)).length;
  insertTag(ctx, {
    name: `wiki-${wiki.title}`,
    type: TAG_TYPE.single,
    value: String(length),
    source: rid,
    day: toJulianDay(wiki.date),
    target: rid,
  });
  ctx.store.deltify(prior, rid);
  const mark = length === 0 ? "-" : prior === 0 ? "+" : ":";
  ctx.pending.wikiTitles.add(wiki.title);
  const comment = `${mark}${wiki.title}`;
  putEvent(ctx, { type: "w", rid, date: wiki.date, user: wiki.user, comment });
}

/** Writes the links of the latest version of a page. */
export function refreshWikiBacklinks(ctx: LinkContext, title: string): void {
  const latest = ctx.db.row<{ tagid: number; rid: number }>(
    `SELECT tagid, rid FROM tagxref JOIN tag USING(tagid) WHERE tagname=?
      ORDER BY tagxref.mtime DESC LIMIT 1`,
    `wiki-${title}`,
  );
  const wiki = latest && ctx.artifact(latest.rid);
  if (!latest || wiki?.kind !== "wiki") return;
  const { mimetype, date, text } = wiki;
  const source = { type: "wiki", id: latest.tagid, mimetype, day: toJulianDay(date) } as const;
  extractBacklinks(ctx, text, source);
}
