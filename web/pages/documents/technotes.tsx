import type { z } from "zod";
import type { technotesSchema } from "../../../routes/projects/reading_schemas.ts";
import { definePage, type View } from "../../page.ts";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

type Technotes = z.output<typeof technotesSchema>;

/** The technotes of a project. */
export const page = definePage({ opens: "anybody", show });

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
          ? <Empty>There is no technote.</Empty>
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
                    <b>{user}</b>
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
  return { title: "Technotes", body, project: project.place("timeline"), live: project.live };
}
