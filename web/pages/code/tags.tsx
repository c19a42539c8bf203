import { listTags } from "../../../services/work/code/operations.ts";
import { shownText } from "../../../services/engines/fossil/front/mod.ts";
import { definePage, type View } from "../../page.ts";
import { CheckinLink, hasAddress } from "../../parts/files.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import type { Visit } from "../../visit.ts";

/** The tags of a project. */
export const page = definePage({ opens: "anybody", show, json: () => "/api/tags" });

const PER_PAGE = 100;

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const { to } = project;
  const { tags } = await project.invoke(listTags, {});
  const wanted = visit.query("q")?.toLowerCase() ?? "";
  const found = tags.filter(({ name }) => name.toLowerCase().includes(wanted));
  const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
  const page = Math.min(visit.pageNumber, pages);
  const shown = found.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const body = (
    <>
      <h1>Tags</h1>
      <form class="row search-row" role="search">
        <label class="hidden-text" for="q">Search tags</label>
        <input id="q" name="q" type="search" value={visit.query("q")} placeholder="Search tags" />
        <button type="submit">Search</button>
      </form>
      {shown.length === 0
        ? (
          <Empty>
            {wanted === "" ? "There are no tags yet. A release makes one." : "No tag matches."}
          </Empty>
        )
        : (
          <ul class="list" data-keys="list">
            {shown.map((tag) => ({ ...tag, at: hasAddress(tag) ? tag.name : tag.uuid }))
              .map((tag) => (
                <li>
                  <div class="row">
                    <a class="strong" href={to.tree(tag.at)}>{shownText(tag.name, "name")}</a>
                    <span class="file-actions end">
                      <a href={to.archive(tag.at, "zip")}>
                        .zip<span class="hidden-text">{` of ${shownText(tag.name, "name")}`}</span>
                      </a>
                      <a href={to.archive(tag.at, "tar.gz")}>
                        .tar.gz<span class="hidden-text">
                          {` of ${shownText(tag.name, "name")}`}
                        </span>
                      </a>
                    </span>
                  </div>
                  <p class="soft small entry-text">
                    <CheckinLink to={to} uuid={tag.uuid} /> {tag.user}, <Time at={tag.timestamp} />
                    {tag.checkin_count > 1 && `, on ${tag.checkin_count} check-ins`}
                  </p>
                </li>
              ))}
          </ul>
        )}
      <Pager visit={visit} page={page} pages={pages} />
    </>
  );
  return { title: `Tags · ${project.view.name}`, body, project: project.place("tags") };
}
