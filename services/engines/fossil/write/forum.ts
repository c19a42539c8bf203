import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, dateAfter, writeAs } from "./author.ts";

/** A forum post to write: a new thread, a reply, or another version of a post. */
export interface NewForumPost extends Author {
  /** The kind of post: a thread with this title, a reply to a post, or a new version of one. */
  readonly place:
    | { readonly title: string }
    | { readonly inReplyTo: string }
    | { readonly edits: string; readonly title?: string };
  /** Empty text deletes an existing post. */
  readonly text: string;
  readonly mimetype?: string;
}

/**
 * Writes a forum post. Returns its hash.
 *
 * @throws {FossilError} `missing` if the answered or edited post is unknown; `conflict` if the
 * edited version is not the latest one of its post.
 */
export function writeForumPost(repository: Repository, post: NewForumPost): string {
  return writeAs(repository, post, () =>
    repository.add({
      kind: "forum",
      ...placeOf(repository, post),
      mimetype: post.mimetype ?? null,
      user: post.user,
      text: post.text,
    }));
}

interface ForumPlace {
  readonly root: string | null;
  readonly title: string | null;
  readonly inReplyTo: string | null;
  readonly parents: readonly string[];
  readonly date: number;
}

function placeOf(repository: Repository, post: NewForumPost): ForumPlace {
  const { place, date } = post;
  if ("inReplyTo" in place) {
    const { root } = threadOf(repository, place.inReplyTo);
    return { root, title: null, inReplyTo: place.inReplyTo, parents: [], date };
  }
  if (!("edits" in place)) {
    return { root: null, title: place.title, inReplyTo: null, parents: [], date };
  }
  const edited = threadOf(repository, place.edits);
  if (
    repository.db.exists("SELECT 1 FROM forumpost WHERE fprev=?", repository.ridOf(place.edits))
  ) {
    throw new FossilError("conflict", `Forum post "${place.edits}" has changed`);
  }
  return {
    root: edited.root,
    title: edited.inReplyTo === null ? place.title ?? edited.title : null,
    inReplyTo: edited.inReplyTo,
    parents: [place.edits],
    date: dateAfter(post, edited.day),
  };
}

interface Thread {
  /** Hash of the first post of the thread. */
  readonly root: string;
  readonly title: string | null;
  readonly inReplyTo: string | null;
  readonly day: number;
}

function threadOf(repository: Repository, hash: string): Thread {
  const rid = repository.ridOf(hash);
  const post = repository.artifact(rid);
  if (post?.kind !== "forum") throw new FossilError("missing", `"${hash}" is not a forum post`);
  const day = repository.db.value<number>("SELECT fmtime FROM forumpost WHERE fpid=?", rid) ?? 0;
  return { root: post.root ?? hash, title: post.title, inReplyTo: post.inReplyTo, day };
}
