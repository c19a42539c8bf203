import { changeTechnote, getTechnote } from "../../../services/work/technotes/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Time } from "../../parts/time.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { previewOf } from "./post_form.tsx";
import { enteredNote, TechnoteForm } from "./technote_form.tsx";

/** A technote: read, and edited with a preview. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { save, preview: (visit) => edit(visit, true) },
  keeps: ["save", "preview"],
  json: (visit) => `/api/technotes/${encodeURIComponent(visit.param("id"))}`,
});

async function show(visit: Visit): Promise<View> {
  if (visit.query("view") === "edit") return await edit(visit, false);
  const project = openProject(visit);
  const note = await visit.invoke(project.slug, getTechnote, {
    id: visit.param("id"),
    html: "true",
  });
  const title = note.comment === "" ? "Technote" : note.comment;
  const body = (
    <>
      <div class="page-head">
        <h1>{title}</h1>
        <div class="row">
          <a class="button" href={`${project.base}/technotes`}>All technotes</a>
          {project.mayWrite && <a class="button" href="?view=edit">Edit</a>}
        </div>
      </div>
      <div class="meta ticket-head">
        <AccountName {...{ visit, project }} name={note.user} />
        <Time at={note.timestamp} />
        <span class="mono">{note.id.slice(0, 10)}</span>
        {note.versions.length > 1 && (
          <span>
            {note.versions.length} versions, changed <Time at={note.last_modified} />
          </span>
        )}
      </div>
      <article data-live-part="technote" data-live-on="technote">
        <Prose html={note.content_html ?? ""} />
      </article>
    </>
  );
  return { title, body, project: project.place("wiki"), live: project.live };
}

/**
 * The editor. If somebody changed the note meanwhile, saving is refused once; then the form follows
 * the newest version.
 */
async function edit(visit: Visit, isPreview: boolean): Promise<View> {
  const project = openProject(visit);
  project.access.require("write");
  const note = await visit.invoke(project.slug, getTechnote, { id: visit.param("id") });
  const isOutdated = visit.refusal !== null && visit.entered("parent") !== note.uuid;
  const body = (
    <>
      <h1>Edit a technote</h1>
      {isOutdated && (
        <div class="notice">
          <p>
            The note has changed since you began.{" "}
            <a href={visit.url.pathname}>See the newest one</a>{" "}
            before you save: your text replaces it.
          </p>
        </div>
      )}
      <TechnoteForm
        visit={visit}
        note={note}
        html={isPreview ? await previewOf(visit, project) : null}
        back={visit.url.pathname}
      />
    </>
  );
  return { title: "Edit a technote", body, project: project.place("wiki") };
}

async function save(visit: Visit): Promise<Leads> {
  const { slug } = openProject(visit);
  const parent = visit.entered("parent");
  await visit.invoke(slug, changeTechnote, {
    id: visit.param("id"),
    ...enteredNote(visit),
    ...(parent === "" ? {} : { parent }),
  });
  return { to: visit.url.pathname, notice: "The technote is saved." };
}
