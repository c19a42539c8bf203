/** Technotes: only the latest version of a note stands in the timeline, at the note's own date. */
import type { Technote } from "../artifact/mod.ts";
import { encodeUtf8, toJulianDay } from "../codec/mod.ts";
import { TAG } from "../content/mod.ts";
import { relabelAttachments } from "./attachment.ts";
import type { LinkContext } from "./context.ts";
import { insertTag, TAG_TYPE } from "./tag.ts";
import { linkVersions } from "./version.ts";
import { trimStart } from "./wiki.ts";

export function linkTechnote(ctx: LinkContext, rid: number, note: Technote): void {
  const prior = linkVersions(ctx, rid, note);
  const day = toJulianDay(note.date);
  const tagid = insertTag(ctx, {
    name: `event-${note.id}`,
    type: TAG_TYPE.single,
    value: String(encodeUtf8(trimStart(note.text)).length),
    source: rid,
    day,
    target: rid,
  });
  const newer = ctx.db.value<number>(
    "SELECT rid FROM tagxref WHERE tagid=? AND mtime>=? AND rid!=? ORDER BY mtime",
    tagid,
    day,
    rid,
  );
  if (prior !== 0) ctx.store.deltify(prior, rid);
  if (newer !== undefined) {
    ctx.store.deltify(rid, newer);
  } else {
    if (prior !== 0) ctx.db.run("DELETE FROM event WHERE type='e' AND tagid=?", tagid);
    ctx.db.run(
      `REPLACE INTO event(type,mtime,objid,tagid,user,comment,bgcolor) VALUES('e',?,?,?,?,?,
         (SELECT value FROM tagxref WHERE tagid=${TAG.bgcolor} AND rid=?))`,
      toJulianDay(note.eventDate),
      rid,
      tagid,
      note.user,
      note.comment,
      rid,
    );
  }
  relabelAttachments(ctx, "technote", note.id);
}
