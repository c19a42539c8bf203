import { getFileHistory } from "../../../services/work/code/operations.ts";
import { getProject } from "../../../services/work/projects/operations.ts";
import { definePage, type View } from "../../page.ts";
import { ChangeBadge } from "../../parts/diff.tsx";
import { CheckinLink, firstLine, PathLinks } from "../../parts/files.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import { type Visit, withQuery } from "../../visit.ts";

/** The check-ins that changed a file. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => withQuery("/api/history", queryOf(visit)),
});

const PER_PAGE = 50;

function queryOf(visit: Visit) {
  const everywhere = visit.query("everywhere") === "true" ? "true" : undefined;
  return {
    path: visit.param("path"),
    checkin: visit.query("checkin"),
    everywhere,
    page: visit.pageNumber,
    per_page: PER_PAGE,
  };
}

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const { to } = project;
  const query = queryOf(visit);
  const { path, checkin, everywhere } = query;
  const [history, { main_branch }] = await Promise.all([
    project.invoke(getFileHistory, query),
    project.invoke(getProject, {}),
  ]);
  const at = checkin ?? main_branch;
  const body = (
    <>
      <div class="page-head">
        <h1>History</h1>
        <span class="file-actions">
          <a href={to.file(at, path)}>File</a>
          <a href={to.blame(at, path)}>Blame</a>
          {everywhere === undefined
            ? <a href={withQuery(to.history(path), { everywhere: "true" })}>On every branch</a>
            : <a href={to.history(path)}>On {main_branch}</a>}
        </span>
      </div>
      <PathLinks {...{ project, path }} checkin={at} />
      <p class="soft">
        {history.total === 1 ? "1 check-in" : `${history.total.toLocaleString("en")} check-ins`}
        {" "}
        changed this file{everywhere === undefined ? `, up to ${at}.` : ", on any branch."}
      </p>
      {history.checkins.length === 0
        ? <Empty>Nothing changed this file.</Empty>
        : (
          <ul class="list" data-keys="list">
            {history.checkins.map((version) => (
              <li>
                <div class="row">
                  <a class="strong" href={to.checkin(version.uuid)}>{firstLine(version.comment)}</a>
                  {version.change_type !== "modified" && <ChangeBadge type={version.change_type} />}
                </div>
                <p class="soft small entry-text">
                  <CheckinLink to={to} uuid={version.uuid} /> {version.user},{" "}
                  <Time at={version.timestamp} />
                  {version.prev_name !== null && `, was ${version.prev_name}`}
                  {version.change_type !== "deleted" && (
                    <>
                      {" · "}
                      <a href={to.file(version.uuid, version.name)}>
                        File<span class="hidden-text">{` at ${version.uuid.slice(0, 10)}`}</span>
                      </a>
                    </>
                  )}
                  {" · "}
                  <a href={withQuery(to.checkin(version.uuid), { path: version.name })}>
                    Changes<span class="hidden-text">{` in ${version.uuid.slice(0, 10)}`}</span>
                  </a>
                </p>
              </li>
            ))}
          </ul>
        )}
      <Pager visit={visit} page={history.page} pages={history.total_pages} />
    </>
  );
  return {
    title: `History of ${path} · ${project.view.name}`,
    body,
    project: project.place("code"),
  };
}
