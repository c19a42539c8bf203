import { listBranches } from "../../../services/work/code/operations.ts";
import { shownText } from "../../../services/engines/fossil/front/mod.ts";
import { getProject } from "../../../services/work/projects/operations.ts";
import { definePage, type View } from "../../page.ts";
import { type Branches, CheckinLink, hasAddress } from "../../parts/files.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import { BranchPurpose } from "../../parts/work_badges.tsx";
import type { Visit } from "../../visit.ts";

/** The branches of a project, open and closed. */
export const page = definePage({ opens: "anybody", show, json: () => "/api/branches" });

const PER_PAGE = 50;

type Branch = Branches[number];

/** The choices of the filter. */
const STATUSES = [
  ["", "Open and closed"],
  ["open", "Open"],
  ["unmerged", "Not merged"],
  ["closed", "Closed"],
] as const;

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const [{ branches }, { main_branch }] = await Promise.all([
    project.invoke(listBranches, { divergence: "true" }),
    project.invoke(getProject, {}),
  ]);
  const wanted = visit.query("q")?.toLowerCase() ?? "";
  const status = visit.query("status") ?? "";
  const found = branches.filter((branch) =>
    branch.name.toLowerCase().includes(wanted) && hasStatus(branch, status)
  ).toSorted((one, other) => Number(other.name === main_branch) - Number(one.name === main_branch));
  const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
  const page = Math.min(visit.pageNumber, pages);
  const shown = found.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const open = branches.filter((branch) => branch.status === "open").length;
  const body = (
    <>
      <div class="page-head">
        <h1>Branches</h1>
        <a class="button" href={project.to.at("/compare")}>Compare</a>
      </div>
      <BranchFilters {...{ visit, wanted, status }} />
      <p class="soft small">
        {open.toLocaleString("en")} open, {(branches.length - open).toLocaleString("en")} closed
      </p>
      {shown.length === 0
        ? <Empty>No branch matches.</Empty>
        : (
          <ul class="list" data-keys="list" data-live-part="branches" data-live-on="checkin tag">
            {shown.map((branch) => (
              <li>
                <BranchEntry {...{ project, branch }} main={main_branch} />
              </li>
            ))}
          </ul>
        )}
      <Pager visit={visit} page={page} pages={pages} />
    </>
  );
  return {
    title: `Branches · ${project.view.name}`,
    body,
    project: project.place("branches"),
    live: `/live/projects/${project.slug}`,
  };
}

function hasStatus(branch: Branch, status: string): boolean {
  if (status !== "unmerged") return status === "" || branch.status === status;
  return branch.status === "open" && branch.is_merged === false;
}

function BranchFilters({ visit, wanted, status }: {
  readonly visit: Visit;
  readonly wanted: string;
  readonly status: string;
}) {
  return (
    <form class="row search-row" role="search">
      <label class="hidden-text" for="q">Search branches</label>
      <input
        id="q"
        name="q"
        type="search"
        value={visit.query("q") ?? wanted}
        placeholder="Search branches"
      />
      <label class="hidden-text" for="status">Status</label>
      <select id="status" name="status">
        {STATUSES.map(([value, words]) => (
          <option value={value} selected={value === status}>{words}</option>
        ))}
      </select>
      <button type="submit">Search</button>
    </form>
  );
}

function BranchEntry({ project, branch, main }: {
  readonly project: CodeProject;
  readonly branch: Branch;
  readonly main: string;
}) {
  const { to } = project;
  const { name, checkin_count: count } = branch;
  const of = <span class="hidden-text">{` of ${shownText(name, "name")}`}</span>;
  return (
    <>
      <div class="row">
        <a class="strong" href={to.tree(namedTip(branch))}>{shownText(name, "name")}</a>
        {name === main && <span class="badge accent">main branch</span>}
        {branch.status === "closed" && <span class="badge">closed</span>}
        {branch.is_private && <span class="badge warn">private: not synced</span>}
        <span class="file-actions end">
          {name !== main && <Divergence {...{ project, branch, main }} />}
          <BranchPurpose {...{ to, name }} />
          {hasAddress(branch) && <a href={to.at("/timeline", { branch: name })}>Timeline{of}</a>}
          <a href={to.archive(namedTip(branch), "zip")}>.zip{of}</a>
        </span>
      </div>
      <p class="soft small entry-text">
        <CheckinLink to={to} uuid={branch.last_uuid} /> {branch.last_user},{" "}
        <Time at={branch.last_checkin} />,{" "}
        {count === 1 ? "1 check-in" : `${count.toLocaleString("en")} check-ins`}
      </p>
    </>
  );
}

/** What stands for the newest check-in of a branch: its name, or else the hash. */
function namedTip(branch: Branch): string {
  return branch.is_named === false || !hasAddress(branch) ? branch.last_uuid : branch.name;
}

/** How far a branch is from the main branch, with a link to the differences. */
function Divergence({ project: { to }, branch, main }: {
  readonly project: CodeProject;
  readonly branch: Branch;
  readonly main: string;
}) {
  const { name, ahead = null, behind = null } = branch;
  const compared = (
    <span class="hidden-text">{`: compare ${shownText(name, "name")} with ${main}`}</span>
  );
  if (ahead === null || behind === null) {
    return <a href={to.compare(main, namedTip(branch))}>Compare{compared}</a>;
  }
  if (ahead === 0) {
    return (
      <span class="soft">
        {behind === 0 ? `same as ${main}` : `merged, ${behind.toLocaleString("en")} behind`}
      </span>
    );
  }
  return (
    <a href={to.compare(main, namedTip(branch))}>
      {ahead.toLocaleString("en")} ahead
      {behind > 0 && `, ${behind.toLocaleString("en")} behind`}
      {compared}
    </a>
  );
}
