import { shownText } from "../../../services/engines/fossil/front/mod.ts";
import { listWikiPages } from "../../../services/work/wiki/operations.ts";
import { pageAddress } from "../../../services/engines/markup/mod.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Filters, SearchFilter } from "../../parts/filters.tsx";
import { Form, TextField } from "../../parts/form.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

const PER_PAGE = 100;

/** The wiki pages of a project. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { begin },
  json: () => "/api/wiki",
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const { pages } = await visit.invoke(project.slug, listWikiPages, {});
  const search = visit.query("search")?.toLowerCase() ?? "";
  const found = pages.filter(({ name }) => name.toLowerCase().includes(search));
  const start = (visit.pageNumber - 1) * PER_PAGE;
  const body = (
    <>
      <div class="page-head">
        <h1>Wiki</h1>
        <div class="row">
          <a class="button" href={`${project.base}/technotes`}>Technotes</a>
          <a class="button" href={`${project.base}/forum`}>Forum</a>
        </div>
      </div>
      <div class="columns">
        <div data-live-part="pages" data-live-on="wiki">
          {pages.length > 0 && (
            <div class="list-tools">
              <Filters visit={visit} keep={[]} label="Find a page">
                <SearchFilter visit={visit} label="Name of a page" />
              </Filters>
            </div>
          )}
          {found.length === 0
            ? (
              <Empty>
                <p>{pages.length === 0 ? "The wiki has no page." : "No page has such a name."}</p>
              </Empty>
            )
            : (
              <ul class="list" data-keys="list">
                {found.slice(start, start + PER_PAGE).map(({ name, user, last_modified }) => (
                  <li>
                    <div class="row-title">
                      <a href={pageAddress(project.base, name)}>{shownText(name, "name")}</a>
                    </div>
                    <div class="meta">
                      <span>
                        changed by <AccountName {...{ visit, project }} name={user} />{" "}
                        <Time at={last_modified} />
                      </span>
                    </div>
                  </li>
                ))}
              </ul>
            )}
          <Pager visit={visit} page={visit.pageNumber} pages={Math.ceil(found.length / PER_PAGE)} />
        </div>
        {project.mayWrite && <NewPage visit={visit} />}
      </div>
    </>
  );
  return { title: "Wiki", body, project: project.place("wiki"), live: project.live };
}

function NewPage({ visit }: { readonly visit: Visit }) {
  return (
    <aside class="card" aria-labelledby="new-page">
      <h2 id="new-page">New page</h2>
      <Form visit={visit} action="begin">
        <TextField visit={visit} name="name" label="Name" required maxlength={100} />
        <button class="primary" type="submit">Write it</button>
      </Form>
    </aside>
  );
}

function begin(visit: Visit): Promise<Leads> {
  const address = pageAddress(openProject(visit).base, visit.entered("name").trim());
  return Promise.resolve({ to: `${address}?view=edit` });
}
