import type { z } from "zod";
import type { technoteSchema } from "../../../routes/projects/reading_schemas.ts";
import { definePage, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Time } from "../../parts/time.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

type Technote = z.output<typeof technoteSchema>;

/** A technote. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => `/api/technotes/${encodeURIComponent(visit.param("id"))}`,
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const path = `/api/technotes/${encodeURIComponent(visit.param("id"))}`;
  const note = await visit.read<Technote>(project.slug, path, { html: true });
  const title = note.comment === "" ? "Technote" : note.comment;
  const body = (
    <>
      <div class="page-head">
        <h1>{title}</h1>
        <a class="button" href={`${project.base}/technotes`}>All technotes</a>
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
