/** Forum posts. A thread's title is that of the version of its first post that came last. */
import type { ForumPost } from "../artifact/mod.ts";
import { toJulianDay } from "../codec/mod.ts";
import { FORUM_SCHEMA } from "../content/mod.ts";
import { extractBacklinks } from "./backlink.ts";
import type { LinkContext } from "./context.ts";
import { putEvent } from "./event.ts";
import { linkVersions } from "./tag.ts";

/** A post, and the rows of the artifacts it names: 0 for none and for a shunned one. */
interface LinkedPost {
  readonly rid: number;
  readonly post: ForumPost;
  readonly root: number;
  readonly prior: number;
  readonly answered: number;
}

export function linkForumPost(ctx: LinkContext, rid: number, post: ForumPost): void {
  ctx.db.exec(FORUM_SCHEMA);
  linkVersions(ctx, rid, post);
  const linked = linkedPost(ctx, rid, post);
  const { root, prior, answered } = linked;
  ctx.db.run(
    "REPLACE INTO forumpost(fpid,froot,fprev,firt,fmtime) VALUES(?,?,nullif(?,0),nullif(?,0),?)",
    rid,
    root,
    prior,
    answered,
    toJulianDay(post.date),
  );
  const later = "SELECT 1 FROM forumpost WHERE froot=? AND fpid>?";
  if (ctx.db.exists(later, root, rid)) replayThread(ctx, root);
  else describePost(ctx, linked);
  if (post.text !== "") {
    const source = { type: "forum", id: rid, day: toJulianDay(post.date) } as const;
    extractBacklinks(ctx, post.text, { ...source, mimetype: post.mimetype });
  }
}

function linkedPost(ctx: LinkContext, rid: number, post: ForumPost): LinkedPost {
  const ridOf = (hash: string | null | undefined) => hash ? ctx.store.ridOrPhantom(hash) : 0;
  return {
    rid,
    post,
    root: post.root === null ? rid : ridOf(post.root),
    prior: ridOf(post.parents[0]),
    answered: ridOf(post.inReplyTo),
  };
}

/** A post arrived out of order: set the titles that a rebuild would give. */
function replayThread(ctx: LinkContext, root: number): void {
  const posts = ctx.db.rows<{ fpid: number }>(
    "SELECT fpid FROM forumpost WHERE froot=? ORDER BY fpid",
    root,
  );
  for (const { fpid } of posts) ctx.db.run("DELETE FROM event WHERE objid=?", fpid);
  for (const { fpid } of posts) {
    const post = ctx.artifact(fpid);
    if (post?.kind === "forum") describePost(ctx, linkedPost(ctx, fpid, post));
  }
}

/** Writes the post's line of the timeline; a new title goes to every post of the thread. */
function describePost(ctx: LinkContext, { rid, post, root, prior, answered }: LinkedPost): void {
  const event = { type: "f", rid, date: post.date, user: post.user } as const;
  if (answered !== 0) {
    const title = ctx.db.value<string | null>(
      "SELECT substr(comment,instr(comment,':')+2) FROM event WHERE objid=?",
      root,
    );
    const what = post.text === "" ? "Delete reply" : prior === 0 ? "Reply" : "Edit reply";
    putEvent(ctx, { ...event, comment: `${what}: ${title ?? "<i>Unknown</i>"}` });
    return;
  }
  const title = post.title || "(Deleted)";
  putEvent(ctx, { ...event, comment: `${prior === 0 ? "Post" : "Edit"}: ${title}` });
  ctx.db.run(
    `UPDATE event SET comment=substr(comment,1,instr(comment,':')) || ' ' || ?
      WHERE objid IN (SELECT fpid FROM forumpost WHERE froot=?)`,
    title,
    root,
  );
}
