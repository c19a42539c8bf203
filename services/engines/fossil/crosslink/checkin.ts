/** Check-ins in the timeline, and the tables that only check-ins write. */
import type { Manifest } from "../artifact/mod.ts";
import { toJulianDay } from "../codec/mod.ts";
import { TAG } from "../content/mod.ts";
import { extractBacklinks } from "./backlink.ts";
import type { LinkContext } from "./context.ts";
import { baselineOf } from "./mlink.ts";
import { linkCheckin, relink } from "./plink.ts";

/**
 * Links a check-in. A delta manifest whose baseline is missing waits as an orphan.
 *
 * @returns row of the primary parent (0 for none), or null if the check-in has to wait.
 */
export function linkManifest(ctx: LinkContext, rid: number, manifest: Manifest): number | null {
  if (baselineOf(ctx, manifest) === undefined) {
    const baseline = ctx.store.ridOrPhantom(manifest.baseline ?? "");
    ctx.db.run("INSERT OR IGNORE INTO orphan(rid,baseline) VALUES(?,?)", rid, baseline);
    ctx.unjudged.note(rid);
    return null;
  }
  linkCherrypicks(ctx, rid, manifest);
  relinkCherrypickers(ctx, rid);
  const known = "SELECT 1 FROM mlink WHERE mid=?";
  const primary = ctx.db.exists(known, rid) ? 0 : linkCheckin(ctx, rid, manifest);
  putCheckinEvent(ctx, rid, manifest);
  if (manifest.baseline !== null && ctx.config.get("seen-delta-manifest") !== "1") {
    ctx.config.set("seen-delta-manifest", "1");
  }
  return primary;
}

function linkCherrypicks(ctx: LinkContext, rid: number, manifest: Manifest): void {
  const insert = "REPLACE INTO cherrypick(parentid,childid,isExclude) VALUES(?,?,?)";
  for (const { hash, backout } of manifest.cherrypicks) {
    const picked = ctx.store.ridOf(hash);
    if (picked === 0) ctx.await(hash, rid);
    else ctx.db.run(insert, picked, rid, backout ? 1 : 0);
  }
}

/** Check-ins into which this one was cherry-picked may have arrived before it. */
function relinkCherrypickers(ctx: LinkContext, rid: number): void {
  for (const waiting of ctx.takeAwaiting(ctx.store.hashOf(rid) ?? "")) {
    const child = ctx.manifest(waiting);
    if (child !== null) linkCherrypicks(ctx, waiting, child);
  }
  const children = ctx.db.rows<{ childid: number }>(
    "SELECT childid FROM cherrypick WHERE parentid=? AND NOT isExclude",
    rid,
  );
  for (const { childid } of children) relink(ctx, childid);
}

/** Tags that arrived before the check-in already define what to show. */
function putCheckinEvent(ctx: LinkContext, rid: number, manifest: Manifest): void {
  const day = toJulianDay(manifest.date);
  const valueOf = (tag: number) => `(SELECT value FROM tagxref WHERE tagid=${tag} AND rid=?`;
  const shown = ctx.db.value<string | null>(
    `REPLACE INTO event(type,mtime,objid,user,comment,bgcolor,euser,ecomment,omtime)
     VALUES('ci',
       coalesce((SELECT julianday(value) FROM tagxref WHERE tagid=${TAG.date} AND rid=?), ?),
       ?, ?, ?,
       ${valueOf(TAG.bgcolor)} AND tagtype>0),
       ${valueOf(TAG.user)}),
       ${valueOf(TAG.comment)}),
       ?)
     RETURNING coalesce(ecomment,comment)`,
    rid,
    day,
    rid,
    manifest.user,
    manifest.comment,
    rid,
    rid,
    rid,
    day,
  );
  extractBacklinks(ctx, shown ?? "", { type: "comment", id: rid, mimetype: null, day });
}
