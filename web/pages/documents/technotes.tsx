import type { z } from "zod";
import type { technotesSchema } from "../../../routes/projects/reading_schemas.ts";
import { definePage, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

type Technotes = z.output<typeof technotesSchema>;

/** The technotes of a project. */
export const page = definePage({ opens: "anybody", show, json: () => "/api/technotes" });

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const { technotes, page, total_pages } = await visit.read<Technotes>(
    project.slug,
    "/api/technotes",
    { page: visit.pageNumber, per_page: 50 },
  );
  const body = (
    <>
      <h1>Technotes</h1>
      <div data-live-part="technotes" data-live-on="technote">
        {technotes.length === 0
          ? <NoTechnotes visit={visit} project={project} />
          : (
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

/** What a technote is, and how the first one is written. */
function NoTechnotes({ visit, project: { slug, mayWrite } }: {
  readonly visit: Visit;
  readonly project: OpenProject;
}) {
  const { scm } = visit.services.config.projects;
  return (
    <Empty>
      <p>There are no technotes yet. One is a dated note in the timeline, such as on a release.</p>
      {mayWrite && (
        <>
          <p>
            In a clone, write it with{" "}
            <code>fossil wiki create "The title" note.md --technote now</code>, then{" "}
            <code>fossil sync</code>.
          </p>
          <p>
            Programs write one with <code>POST /projects/{slug}/{scm}/api/technotes</code>.
          </p>
        </>
      )}
    </Empty>
  );
}
