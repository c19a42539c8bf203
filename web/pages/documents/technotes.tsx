import { createTechnote, listTechnotes } from "../../../services/work/technotes/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { previewOf } from "./post_form.tsx";
import { enteredNote, TechnoteForm } from "./technote_form.tsx";

/** The technotes of a project, and the form for a new one. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { save, preview: (visit) => write(visit, true) },
  keeps: ["save", "preview"],
  json: () => "/api/technotes",
});

async function show(visit: Visit): Promise<View> {
  if (visit.query("view") === "new") return await write(visit, false);
  const project = openProject(visit);
  const { technotes, page, total_pages } = await visit.invoke(project.slug, listTechnotes, {
    page: visit.pageNumber,
    per_page: 50,
  });
  const body = (
    <>
      <div class="page-head">
        <h1>Technotes</h1>
        {project.mayWrite && <a class="button primary" href="?view=new">New technote</a>}
      </div>
      <div data-live-part="technotes" data-live-on="technote">
        {technotes.length === 0 ? <Empty>{NO_TECHNOTES}</Empty> : (
          <ul class="list" data-keys="list">
            {technotes.map(({ id, comment, user, timestamp, tags }) => (
              <li>
                <div class="row-title">
                  <a href={`${project.base}/technotes/${id}`}>
                    {comment === "" ? "(without a title)" : comment}
                  </a>
                  {tags.map((tag) => (
                    <span class="badge">
                      {tag}
                    </span>
                  ))}
                </div>
                <div class="meta">
                  <AccountName {...{ visit, project }} name={user} />
                  <Time at={timestamp} />
                </div>
              </li>
            ))}
          </ul>
        )}
      </div>
      <Pager visit={visit} page={page} pages={total_pages} />
    </>
  );
  return { title: "Technotes", body, project: project.place("wiki"), live: project.live };
}

const NO_TECHNOTES =
  "There are no technotes yet. One is a dated note in the timeline, such as on a release.";

/** The form for a new technote. */
async function write(visit: Visit, isPreview: boolean): Promise<View> {
  const project = openProject(visit);
  project.access.require("write");
  const body = (
    <>
      <h1>New technote</h1>
      <TechnoteForm
        visit={visit}
        note={null}
        html={isPreview ? await previewOf(visit, project) : null}
        back={visit.url.pathname}
      />
    </>
  );
  return { title: "New technote", body, project: project.place("wiki") };
}

async function save(visit: Visit): Promise<Leads> {
  const { slug, base } = openProject(visit);
  const note = enteredNote(visit);
  const { id } = await visit.invoke(slug, createTechnote, note);
  return { to: `${base}/technotes/${id}`, notice: "The technote is saved." };
}
