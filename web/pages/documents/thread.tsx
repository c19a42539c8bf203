import type { z } from "zod";
import type { threadSchema } from "../../../routes/projects/reading_schemas.ts";
import { definePage, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Pager } from "../../parts/lists.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Time } from "../../parts/time.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

type Thread = z.output<typeof threadSchema>;

const PER_PAGE = 50;

/** A thread of the forum with its posts, oldest first. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => `/api/forum/${encodeURIComponent(visit.param("uuid"))}`,
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const path = `/api/forum/${encodeURIComponent(visit.param("uuid"))}`;
  const thread = await visit.read<Thread>(project.slug, path);
  const start = (visit.pageNumber - 1) * PER_PAGE;
  const posts = thread.posts.slice(start, start + PER_PAGE);
  const html = await visit.services.hosting.texts.htmlOf(
    project.access.project,
    posts.map(({ content: text, mimetype }) => ({ text, mimetype })),
  );
  const authors = new Map(thread.posts.map(({ uuid, user }) => [uuid, user]));
  const title = thread.title === "" ? "Thread" : thread.title;
  const body = (
    <>
      <div class="page-head">
        <h1>{title}</h1>
        <a class="button" href={`${project.base}/forum`}>All threads</a>
      </div>
      <ol class="activity" data-live-part="posts" data-live-on="forum">
        {posts.map((post, index) => (
          <li id={`post-${post.uuid.slice(0, 10)}`}>
            <article class="card said">
              <header class="meta">
                <AccountName {...{ visit, project }} name={post.user} />{" "}
                <Time at={post.timestamp} />
                {post.in_reply_to !== null && (
                  <span>
                    answers{" "}
                    <a href={`#post-${post.in_reply_to.slice(0, 10)}`}>
                      {authors.get(post.in_reply_to) ?? "a post"}
                    </a>
                  </span>
                )}
                {post.version_count > 1 && (
                  <span>
                    edited <Time at={post.last_modified} />
                  </span>
                )}
              </header>
              {post.is_deleted
                ? <p class="soft deleted-post">This post is deleted.</p>
                : <Prose html={html[index] ?? ""} />}
            </article>
          </li>
        ))}
      </ol>
      <Pager
        visit={visit}
        page={visit.pageNumber}
        pages={Math.ceil(thread.posts.length / PER_PAGE)}
      />
    </>
  );
  return { title, body, project: project.place("wiki"), live: project.live };
}
