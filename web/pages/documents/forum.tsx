import type { z } from "zod";
import type { threadsSchema } from "../../../routes/projects/reading_schemas.ts";
import { definePage, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

type Threads = z.output<typeof threadsSchema>;

/** The threads of a project's forum, to read; they are written with Fossil. */
export const page = definePage({ opens: "anybody", show, json: () => "/api/forum" });

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const { threads, page, total_pages } = await visit.read<Threads>(project.slug, "/api/forum", {
    page: visit.pageNumber,
    per_page: 50,
  });
  const body = (
    <>
      <h1>Forum</h1>
      <div data-live-part="threads" data-live-on="forum">
        {threads.length === 0
          ? <NoThreads mayWrite={project.mayWrite} />
          : (
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

/** How the first thread is written: these pages only show what Fossil wrote. */
function NoThreads({ mayWrite }: { readonly mayWrite: boolean }) {
  return (
    <Empty>
      <p>
        There are no threads yet. Use the forum for questions, and for talk that needs no ticket.
      </p>
      {mayWrite && (
        <p>
          Threads are written with Fossil: begin one under “Forum” in <code>fossil ui</code>{" "}
          of a clone, then <code>fossil sync</code>.
        </p>
      )}
    </Empty>
  );
}
