import { beginThread, listThreads } from "../../../services/work/forum/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Form, TextField } from "../../parts/form.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Preview } from "../../parts/prose.tsx";
import { Time } from "../../parts/time.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { enteredPost, PostFields, previewOf } from "./post_form.tsx";

/** The threads of a project's forum, and the form that begins one. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { save, preview: (visit) => write(visit, true) },
  keeps: ["save", "preview"],
  json: () => "/api/forum",
});

async function show(visit: Visit): Promise<View> {
  if (visit.query("view") === "new") return await write(visit, false);
  const project = openProject(visit);
  const { threads, page, total_pages } = await visit.invoke(project.slug, listThreads, {
    page: visit.pageNumber,
    per_page: 50,
  });
  const body = (
    <>
      <div class="page-head">
        <h1>Forum</h1>
        {project.mayWrite && <a class="button primary" href="?view=new">New thread</a>}
      </div>
      <div data-live-part="threads" data-live-on="forum">
        {threads.length === 0 ? <Empty>{NO_THREADS}</Empty> : (
          <ul class="list" data-keys="list">
            {threads.map(({ uuid, title, user, post_count, last_modified }) => (
              <li>
                <div class="row-title">
                  <a href={`${project.base}/forum/${uuid}`}>
                    {title === "" ? "(without a title)" : title}
                  </a>
                </div>
                <div class="meta">
                  <AccountName {...{ visit, project }} name={user} />
                  <span>{post_count} {post_count === 1 ? "post" : "posts"}</span>
                  <span>
                    changed <Time at={last_modified} />
                  </span>
                </div>
              </li>
            ))}
          </ul>
        )}
      </div>
      <Pager visit={visit} page={page} pages={total_pages} />
    </>
  );
  return { title: "Forum", body, project: project.place("wiki"), live: project.live };
}

const NO_THREADS =
  "There are no threads yet. Use the forum for questions, and for talk that needs no ticket.";

/** The form that begins a thread. */
async function write(visit: Visit, isPreview: boolean): Promise<View> {
  const project = openProject(visit);
  project.access.require("write");
  const body = (
    <>
      <h1>New thread</h1>
      {isPreview && <Preview html={await previewOf(visit, project)} />}
      <Form visit={visit} action="save" class="wide">
        <TextField visit={visit} name="title" label="Title" required maxlength={200} />
        <PostFields visit={visit} rows={12} />
        <div class="row">
          <button class="primary" type="submit">Begin the thread</button>
          <button type="submit" name="action" value="preview">Preview</button>
          <a class="button" href={visit.url.pathname}>Cancel</a>
        </div>
      </Form>
    </>
  );
  return { title: "New thread", body, project: project.place("wiki") };
}

async function save(visit: Visit): Promise<Leads> {
  const { slug, base } = openProject(visit);
  const thread = { title: visit.entered("title"), ...enteredPost(visit) };
  const { uuid } = await visit.invoke(slug, beginThread, thread);
  return { to: `${base}/forum/${uuid}`, notice: "The thread is begun." };
}
