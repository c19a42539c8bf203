import { AccountName } from "../../parts/account_name.tsx";
import type { z } from "zod";
import { getTimeline } from "../../../services/work/code/operations.ts";
import type { timelineSchema } from "../../../services/work/code/schemas.ts";
import { createReview, listReviews } from "../../../services/work/reviews/operations.ts";
import * as workspaces from "../../../services/work/workspaces/operations.ts";
import type { overlapsSchema } from "../../../services/work/workspaces/schemas.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { wordsOf } from "../../parts/form.tsx";
import { ticketNames } from "../../parts/ticket_links.tsx";
import { Time } from "../../parts/time.tsx";
import { WorkStatus } from "../../parts/work_badges.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { type Reviews, type Workspace, WorkspaceForms } from "./forms.tsx";

type Overlaps = z.output<typeof overlapsSchema>["overlaps"];
type Checkins = z.output<typeof timelineSchema>["checkins"];

/** Most rows of a list on the page of a workspace. */
const [MAX_COMMITS, MAX_FILES, MAX_PATHS] = [50, 100, 10];

/** One workspace: its commits, its files, and whose changes overlap with it. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { update, merge, abandon, restore, takeover, review },
  keeps: ["review"],
  json: (visit) => `/api/workspaces/${encodeURIComponent(visit.param("name"))}`,
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const { slug } = project;
  const name = visit.param("name");
  const workspace = await visit.invoke(slug, workspaces.getWorkspace, {
    name,
    max_files: MAX_FILES,
  });
  const isActive = workspace.status === "active";
  const [ticketName, overlaps, checkins, reviews] = await Promise.all([
    ticketNames(visit, project, [workspace.ticket ?? ""]),
    isActive
      ? visit.invoke(slug, workspaces.getWorkspaceOverlaps, { name })
        .then((found) => found.overlaps)
      : [],
    visit.invoke(slug, getTimeline, {
      branch: workspace.branch,
      per_page: Math.min(MAX_COMMITS, Math.max(1, workspace.commits_made)),
    }).then((found) => found.checkins.slice(0, workspace.commits_made)),
    visit.invoke(slug, listReviews, { workspace: workspace.name, per_page: 10 }).then((found) =>
      found.reviews
    ),
  ]);
  const body = (
    <>
      <Head {...{ visit, project, workspace, ticketName }} />
      <div class="columns">
        <div data-live-part="workspace" data-live-on="workspace checkin">
          <Commits {...{ visit, project, workspace, checkins }} />
          <Files base={project.base} workspace={workspace} />
        </div>
        <aside aria-label="About this workspace">
          {overlaps.length > 0 && <Overlapping {...{ visit, project, overlaps }} />}
          <ReviewLinks base={project.base} reviews={reviews} />
          {project.mayWrite && (
            <WorkspaceForms
              visit={visit}
              project={project}
              workspace={workspace}
              reviews={reviews}
            />
          )}
        </aside>
      </div>
    </>
  );
  return {
    title: `Workspace ${workspace.name}`,
    body,
    project: project.place("workspaces"),
    live: project.live,
  };
}

function Head({ visit, project, workspace, ticketName }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly workspace: Workspace;
  readonly ticketName: (ticket: string) => string;
}) {
  const { name, status, description, agent_id, ticket, branch, target_branch, merged_as } =
    workspace;
  const { base } = project;
  return (
    <>
      <div class="page-head">
        <h1>{name}</h1>
        <div class="row">
          <a class="button" href={`${base}/tree/${workspace.tip}/`}>Browse files</a>
          <a class="button" href={`${base}/compare/${workspace.base}...${workspace.tip}`}>
            All changes
          </a>
        </div>
      </div>
      <div class="meta ticket-head">
        <WorkStatus status={status} />
        <span>
          of <AccountName {...{ visit, project }} name={agent_id} />
        </span>
        {ticket !== null && (
          <span>
            for <a href={`${base}/tickets/${ticket}`}>{ticketName(ticket)}</a>
          </span>
        )}
        <span>
          branch <code>{branch}</code>
        </span>
        {target_branch !== null && (
          <span>
            merged into <code>{target_branch}</code>
            {merged_as !== null && (
              <>
                {" as "}
                <a class="mono" href={`${base}/checkin/${merged_as}`}>{merged_as.slice(0, 10)}</a>
              </>
            )}
          </span>
        )}
        <span>
          created <Time at={workspace.created_at} />
        </span>
      </div>
      {description !== "" && <p>{description}</p>}
    </>
  );
}

function Commits({ visit, project, workspace, checkins }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly workspace: Workspace;
  readonly checkins: Checkins;
}) {
  const { commits_made: count } = workspace;
  const { base } = project;
  return (
    <section aria-labelledby="commits">
      <h2 id="commits">
        Commits <span class="soft">{count}</span>
      </h2>
      {count === 0
        ? <p class="soft">Nothing is committed yet.</p>
        : (
          <ul class="list" data-keys="list">
            {checkins.map(({ uuid, comment, user, timestamp }) => (
              <li>
                <div class="row-title">
                  <a href={`${base}/checkin/${uuid}`}>{comment.split("\n")[0]}</a>
                </div>
                <div class="meta">
                  <span class="mono">{uuid.slice(0, 10)}</span>
                  <AccountName {...{ visit, project }} name={user} />
                  <Time at={timestamp} />
                </div>
              </li>
            ))}
          </ul>
        )}
      {count > checkins.length && (
        <p>
          <a href={`${base}/timeline?branch=${encodeURIComponent(workspace.branch)}`}>
            {count - checkins.length} older commits
          </a>
        </p>
      )}
    </section>
  );
}

const CHANGES: Readonly<Record<string, string>> = {
  added: "good",
  deleted: "bad",
  renamed: "accent",
};

function Files({ base, workspace }: {
  readonly base: OpenProject["base"];
  readonly workspace: Workspace;
}) {
  const { files, files_changed: count, tip } = workspace;
  const changes = `${base}/compare/${workspace.base}...${tip}`;
  return (
    <section aria-labelledby="files">
      <h2 id="files">
        Changed files <span class="soft">{count.toLocaleString("en")}</span>
      </h2>
      <ul class="list small">
        {files.map(({ name, change_type, prev_name }) => (
          <li class="row">
            <span class={`badge ${CHANGES[change_type] ?? ""}`}>{change_type}</span>
            {change_type === "deleted"
              ? <code>{name}</code>
              : <a class="mono" href={`${base}/file/${tip}/${pathIn(name)}`}>{name}</a>}
            {prev_name !== null && <span class="soft">was {prev_name}</span>}
            <a class="end" href={withQuery(changes, { path: name.toWellFormed() })}>
              Changes<span class="hidden-text">: {name}</span>
            </a>
          </li>
        ))}
      </ul>
      {count > files.length && (
        <p>
          <a href={changes}>{(count - files.length).toLocaleString("en")} more files</a>
        </p>
      )}
    </section>
  );
}

function pathIn(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

function Overlapping({ visit, project, overlaps }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly overlaps: Overlaps;
}) {
  return (
    <section class="card">
      <h2>Others change the same files</h2>
      <ul class="plain">
        {overlaps.map(({ workspace, agent_id, paths, conflicts }) => (
          <li>
            <a href={`${project.base}/workspaces/${encodeURIComponent(workspace)}`}>{workspace}</a>
            {" "}
            of <AccountName {...{ visit, project }} name={agent_id} /> {conflicts === null
              ? <span class="badge">not tried yet</span>
              : conflicts.length === 0
              ? <span class="badge good">merges cleanly</span>
              : <span class="badge bad">conflicts</span>}
            <ul class="plain small soft">
              {paths.slice(0, MAX_PATHS).map((path) => (
                <li>
                  <code>{path}</code>
                  {conflicts?.some((conflict) => conflict.path === path) === true && " conflicts"}
                </li>
              ))}
              {paths.length > MAX_PATHS && <li>and {paths.length - MAX_PATHS} more</li>}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ReviewLinks({ base, reviews }: {
  readonly base: OpenProject["base"];
  readonly reviews: Reviews;
}) {
  if (reviews.length === 0) return null;
  return (
    <section class="card">
      <h2>Reviews</h2>
      <ul class="plain">
        {reviews.map(({ id, title, status }) => (
          <li>
            <a href={`${base}/reviews/${id}`}>#{id} {title}</a> <WorkStatus status={status} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The fields of a form that are not empty. */
function filled(visit: Visit, ...names: readonly string[]): Record<string, string> {
  const fields = names.map((name) => [name, visit.entered(name).trim()] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== ""));
}

async function update(visit: Visit): Promise<Leads> {
  const input = { name: visit.param("name"), ...filled(visit, "source") };
  await visit.invoke(openProject(visit).slug, workspaces.updateWorkspace, input);
  return { to: visit.url.pathname, notice: "The other branch is merged into the workspace." };
}

async function merge(visit: Visit): Promise<Leads> {
  const input = {
    name: visit.param("name"),
    ...filled(visit, "target_branch", "message", "tip"),
  };
  await visit.invoke(openProject(visit).slug, workspaces.mergeWorkspace, input);
  return { to: visit.url.pathname, notice: "The workspace is merged." };
}

async function abandon(visit: Visit): Promise<Leads> {
  const input = { name: visit.param("name") };
  await visit.invoke(openProject(visit).slug, workspaces.abandonWorkspace, input);
  return { to: visit.url.pathname, notice: "The workspace is abandoned. Nothing is erased." };
}

async function restore(visit: Visit): Promise<Leads> {
  const input = { name: visit.param("name") };
  await visit.invoke(openProject(visit).slug, workspaces.restoreWorkspace, input);
  return { to: visit.url.pathname, notice: "The workspace is open again." };
}

async function takeover(visit: Visit): Promise<Leads> {
  const input = { name: visit.param("name") };
  await visit.invoke(openProject(visit).slug, workspaces.takeOverWorkspace, input);
  return { to: visit.url.pathname, notice: "The workspace is yours." };
}

async function review(visit: Visit): Promise<Leads> {
  const { slug, base } = openProject(visit);
  const reviewers = wordsOf(visit.entered("reviewers"));
  const { id } = await visit.invoke(slug, createReview, {
    title: visit.entered("title"),
    description: visit.entered("description").replaceAll("\r\n", "\n"),
    workspace: visit.param("name"),
    reviewers,
    ...filled(visit, "target_branch", "ticket_uuid"),
  });
  return { to: `${base}/reviews/${id}`, notice: "The review is open." };
}
