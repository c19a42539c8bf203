/**
 * The forum. An edit of a post is a separate post that refers to the previous one. Results have
 * each post once, at its latest version, under the hash of its first version.
 */
import { type ForumPost, shownText } from "../artifact/mod.ts";
import { isArtifactHash } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { timestampOf } from "./checkins.ts";
import { pageOf, type Paging } from "./paging.ts";
import type { Reader } from "./reader.ts";
import type { ForumThread, ForumThreadList, ForumThreadPost, ForumThreadRef } from "./shapes.ts";

const DEFAULT_MIMETYPE = "text/x-fossil-wiki";
const NO_TITLE = "(Deleted)";

interface PostRow {
  readonly fpid: number;
  readonly uuid: string;
  /** Row of the version before, null for a first one. */
  readonly fprev: number | null;
  /** Row of the answered post, in any version. */
  readonly firt: number | null;
  /** Julian day. */
  readonly fmtime: number;
}

/** A post with all its versions, the first one first. */
interface Post {
  readonly versions: readonly PostRow[];
  /** Row of the first version of the post that is answered; null for the first of a thread. */
  readonly answers: number | null;
}

/** A page of threads, the most recently changed one first. */
export function listForumThreads(reader: Reader, paging: Paging = {}): ForumThreadList {
  return reader.read(() => {
    const { db } = reader.repository;
    const { limit, offset } = pageOf(paging);
    if (!db.hasTable("forumpost")) return { threads: [], total: 0 };
    const rows = db.rows<{ froot: number }>(
      `SELECT froot FROM forumpost JOIN blob ON rid=froot AND size>=0 GROUP BY froot
        ORDER BY max(fmtime) DESC, froot DESC LIMIT ? OFFSET ?`,
      limit,
      offset,
    );
    const count = `SELECT count(DISTINCT froot) FROM forumpost JOIN blob ON rid=froot AND size>=0`;
    const threads = rows.flatMap(({ froot }) => {
      const posts = postsOf(reader, froot);
      return posts.length === 0 ? [] : [threadRef(reader, posts)];
    });
    return { threads, total: db.value<number>(count) ?? 0 };
  });
}

/**
 * A thread with all its posts, oldest first.
 *
 * @param uuid hash of any version of any of its posts.
 * @throws {FossilError} `missing` if there is no such post.
 */
export function readForumThread(reader: Reader, uuid: string): ForumThread {
  return reader.read(() => {
    const posts = threadOf(reader, uuid);
    return { ...threadRef(reader, posts), posts: posts.map((post) => shapeOf(reader, post)) };
  });
}

/**
 * A post and the title of its thread, by the hash of any of its versions. Throws like
 * `readForumThread`.
 */
export function readForumPost(reader: Reader, uuid: string): ForumThreadPost & { title: string } {
  return reader.read(() => {
    const posts = threadOf(reader, uuid);
    const post = posts.find(({ versions }) => versions.some((one) => one.uuid === uuid));
    return { ...shapeOf(reader, post ?? posts[0]!), title: threadRef(reader, posts).title };
  });
}

/** All posts of the thread that a post is in; at least one. */
function threadOf(reader: Reader, uuid: string): Post[] {
  const { db, store } = reader.repository;
  const rid = isArtifactHash(uuid) ? store.ridOf(uuid.toLowerCase()) : 0;
  const root = rid !== 0 && db.hasTable("forumpost")
    ? db.value<number>("SELECT froot FROM forumpost WHERE fpid=?", rid)
    : undefined;
  const posts = root === undefined ? [] : postsOf(reader, root);
  if (posts.length === 0) throw new FossilError("missing", `There is no forum post "${uuid}"`);
  return posts;
}

/** The posts of a thread in the order of their first versions. */
function postsOf(reader: Reader, root: number): Post[] {
  const rows = reader.repository.db.rows<PostRow>(
    `SELECT fpid, uuid, fprev, firt, fmtime FROM forumpost JOIN blob ON rid=fpid
      WHERE froot=? ORDER BY fmtime, fpid`,
    root,
  );
  const byRid = new Map(rows.map((row) => [row.fpid, row]));
  const firstOf = (rid: number): number => {
    const seen = new Set<number>();
    let row = byRid.get(rid);
    while (row !== undefined && row.fprev !== null && !seen.has(row.fpid)) {
      seen.add(row.fpid);
      const before = byRid.get(row.fprev);
      if (before === undefined) break;
      row = before;
    }
    return row?.fpid ?? rid;
  };
  const posts = new Map<number, PostRow[]>();
  for (const row of rows) {
    const first = firstOf(row.fpid);
    posts.set(first, [...posts.get(first) ?? [], row]);
  }
  return [...posts.values()].map((versions) => {
    const { firt } = versions[0]!;
    return { versions, answers: firt === null ? null : firstOf(firt) };
  });
}

function artifactOf(reader: Reader, { fpid, uuid }: PostRow): ForumPost {
  const artifact = reader.repository.artifact(fpid);
  if (artifact?.kind === "forum") return artifact;
  throw new FossilError("missing", `Forum post "${uuid}" is not here`);
}

function threadRef(reader: Reader, posts: readonly Post[]): ForumThreadRef {
  const opening = posts.find(({ answers }) => answers === null) ?? posts[0]!;
  const [first, latest] = [opening.versions[0]!, opening.versions.at(-1)!];
  const days = posts.flatMap(({ versions }) => versions.map(({ fmtime }) => fmtime));
  return {
    uuid: first.uuid,
    title: shownText(artifactOf(reader, latest).title || NO_TITLE, "name"),
    user: shownText(artifactOf(reader, first).user, "name"),
    created: timestampOf(first.fmtime),
    last_modified: timestampOf(Math.max(...days)),
    post_count: posts.length,
  };
}

function shapeOf(reader: Reader, { versions, answers }: Post): ForumThreadPost {
  const [first, latest] = [versions[0]!, versions.at(-1)!];
  const artifact = artifactOf(reader, latest);
  return {
    uuid: first.uuid,
    latest_uuid: latest.uuid,
    timestamp: timestampOf(first.fmtime),
    last_modified: timestampOf(latest.fmtime),
    user: shownText(artifactOf(reader, first).user, "name"),
    in_reply_to: answers === null ? null : reader.repository.store.hashOf(answers) ?? null,
    mimetype: artifact.mimetype ?? DEFAULT_MIMETYPE,
    content: artifact.text,
    is_deleted: artifact.text === "",
    version_count: versions.length,
  };
}
