import type { z } from "zod";
import { getThread, replyToPost } from "../../../services/work/forum/operations.ts";
import type { threadSchema } from "../../../services/work/forum/schemas.ts";
import { NotFound } from "../../../services/kernel/errors.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Form } from "../../parts/form.tsx";
import { Pager } from "../../parts/lists.tsx";
import { Preview, Prose } from "../../parts/prose.tsx";
import { ThreadProse, type ThreadText, threadTexts } from "../../parts/thread_texts.tsx";
import { Time } from "../../parts/time.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { enteredPost, PostFields, previewOf } from "./post_form.tsx";

type Thread = z.output<typeof threadSchema>;

const PER_PAGE = 50;

/** A thread of the forum with its posts, oldest first, and the form that answers one of them. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { save, preview: (visit) => answer(visit, true) },
  keeps: ["save", "preview"],
  json: (visit) => `/api/forum/${encodeURIComponent(visit.param("uuid"))}`,
});

async function show(visit: Visit): Promise<View> {
  if (visit.query("answer") !== undefined) return await answer(visit, false);
  const project = openProject(visit);
  const thread = await visit.invoke(project.slug, getThread, {
    uuid: visit.param("uuid"),
    page: visit.pageNumber,
    per_page: PER_PAGE,
    post: visit.query("post"),
  });
  const { posts } = thread;
  const texts = await threadTexts(
    visit,
    project,
    posts.map(({ content: text, mimetype }) => ({ text, mimetype })),
  );
  const authors = new Map(posts.map(({ uuid, user }) => [uuid, user]));
  const title = thread.title === "" ? "Thread" : thread.title;
  const body = (
    <>
      <div class="page-head">
        <h1>{title}</h1>
        <a class="button" href={`${project.base}/forum`}>All threads</a>
      </div>
      <ol class="activity" data-live-part="posts" data-live-on="forum">
        {posts.map((post, index) => (
          <Post
            {...{ visit, project, post }}
            text={texts[index]}
            answered={authors.get(post.in_reply_to ?? "") ?? null}
          />
        ))}
      </ol>
      <Pager
        visit={visit}
        page={thread.page}
        pages={thread.total_pages}
      />
    </>
  );
  return { title, body, project: project.place("wiki"), live: project.live };
}

/** The address that shows one post of the thread. */
function aloneOf(visit: Visit, post: string): string {
  return withQuery(visit.url.pathname, { post });
}

function Post({ visit, project, post, text, answered }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly post: Thread["posts"][number];
  readonly text: ThreadText | undefined;
  /** Who wrote the post that it answers; null if the page does not show that one. */
  readonly answered: string | null;
}) {
  return (
    <li id={`post-${post.uuid.slice(0, 10)}`}>
      <article class="card said">
        <header class="meta">
          <AccountName {...{ visit, project }} name={post.user} /> <Time at={post.timestamp} />
          {post.in_reply_to !== null && (
            <span>
              answers {answered === null
                ? <a href={aloneOf(visit, post.in_reply_to)}>a post</a>
                : <a href={`#post-${post.in_reply_to.slice(0, 10)}`}>{answered}</a>}
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
          : <ThreadProse text={text} alone={aloneOf(visit, post.uuid)} />}
        {project.mayWrite && !post.is_deleted && (
          <a class="small" href={`?answer=${post.uuid}`}>
            Answer<span class="hidden-text">{` the post of ${post.user}`}</span>
          </a>
        )}
      </article>
    </li>
  );
}

/** The form that answers a post. */
async function answer(visit: Visit, isPreview: boolean): Promise<View> {
  const project = openProject(visit);
  project.access.require("write");
  const asked = visit.query("answer") ?? "";
  const thread = await visit.invoke(project.slug, getThread, {
    uuid: visit.param("uuid"),
    post: asked,
  });
  const [post] = thread.posts;
  if (post === undefined) throw new NotFound("The thread has no such post");
  const { content: text, mimetype } = post;
  const html = await visit.services.hosting.texts.html(project.access.project, { text, mimetype });
  const body = (
    <>
      <h1>Answer in “{thread.title}”</h1>
      <article class="card said">
        <header class="meta">
          <AccountName {...{ visit, project }} name={post.user} /> <Time at={post.timestamp} />
        </header>
        <Prose html={html} />
      </article>
      {isPreview && <Preview html={await previewOf(visit, project)} />}
      <Form visit={visit} action="save" class="wide">
        <PostFields visit={visit} rows={12} />
        <div class="row">
          <button class="primary" type="submit">Answer</button>
          <button type="submit" name="action" value="preview">Preview</button>
          <a class="button" href={visit.url.pathname}>Cancel</a>
        </div>
      </Form>
    </>
  );
  return { title: `Answer in ${thread.title}`, body, project: project.place("wiki") };
}

async function save(visit: Visit): Promise<Leads> {
  const { slug } = openProject(visit);
  await visit.invoke(slug, replyToPost, {
    uuid: visit.query("answer") ?? "",
    ...enteredPost(visit),
  });
  const { post_count } = await visit.invoke(slug, getThread, {
    uuid: visit.param("uuid"),
    per_page: 1,
  });
  const page = Math.ceil(post_count / PER_PAGE);
  return {
    to: withQuery(visit.url.pathname, { page: page > 1 ? page : undefined }),
    notice: "The answer is in the thread.",
  };
}
