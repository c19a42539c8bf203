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
import type {
  ForumPostInThread,
  ForumThread,
  ForumThreadList,
  ForumThreadPost,
  ForumThreadRef,
} from "./shapes.ts";

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

/** Which posts of a thread. */
export interface ThreadPart extends Paging {
  /** Only this one, by the hash of any of its versions. */
  readonly post?: string | undefined;
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
 * A thread with its posts, oldest first.
 *
 * @param uuid hash of any version of any of its posts.
 * @param part which of them; all by default.
 * @throws {FossilError} `missing` if there is no such post.
 */
export function readForumThread(reader: Reader, uuid: string, part: ThreadPart = {}): ForumThread {
  return reader.read(() => {
    const posts = threadOf(reader, uuid);
    const { limit = posts.length, offset = 0, post } = part;
    const fitting = post === undefined ? posts : posts.filter((one) => isPost(one, post));
    const shown = fitting.slice(offset, offset + limit);
    return {
      ...threadRef(reader, posts),
      posts: shown.map((one) => shapeOf(reader, one)),
      total: fitting.length,
    };
  });
}

/** Whether a hash is that of a version of a post. */
function isPost({ versions }: Post, uuid: string): boolean {
  return versions.some((one) => one.uuid === uuid);
}

/** A post and its thread, by the hash of any of its versions. Throws like `readForumThread`. */
export function readForumPost(reader: Reader, uuid: string): ForumPostInThread {
  return reader.read(() => {
    const posts = threadOf(reader, uuid);
    const post = posts.find((one) => isPost(one, uuid));
    const { uuid: thread, title } = threadRef(reader, posts);
    return { ...shapeOf(reader, post ?? posts[0]!), thread, title };
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
  const firsts = new Map<number, number>();
  const firstOf = (rid: number): number => {
    const path: number[] = [];
    let [at, before]: [number, number | null] = [rid, rid];
    while (before !== null && !firsts.has(at = before)) {
      path.push(at);
      // Its own first one, until that is known: versions that follow each other end here.
      firsts.set(at, at);
      const previous: number | null = byRid.get(at)?.fprev ?? null;
      before = previous !== null && byRid.has(previous) ? previous : null;
    }
    const first = firsts.get(at)!;
    for (const one of path) firsts.set(one, first);
    return first;
  };
  const posts = new Map<number, PostRow[]>();
  for (const row of rows) {
    const first = firstOf(row.fpid);
    const versions = posts.get(first);
    if (versions === undefined) posts.set(first, [row]);
    else versions.push(row);
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
  const latestDay = posts.reduce(
    (most, { versions }) => versions.reduce((day, { fmtime }) => Math.max(day, fmtime), most),
    0,
  );
  return {
    uuid: first.uuid,
    title: shownText(artifactOf(reader, latest).title || NO_TITLE, "name"),
    user: shownText(artifactOf(reader, first).user, "name"),
    created: timestampOf(first.fmtime),
    last_modified: timestampOf(latestDay),
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
