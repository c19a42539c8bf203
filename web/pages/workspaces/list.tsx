import type { z } from "zod";
import { createWorkspace, listWorkspaces } from "../../../services/work/workspaces/operations.ts";
import type { workspaceListSchema } from "../../../services/work/workspaces/schemas.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { linkWith, Segments } from "../../parts/filters.tsx";
import { Form, TextField } from "../../parts/form.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { ticketNames } from "../../parts/ticket_links.tsx";
import { Time } from "../../parts/time.tsx";
import { OverlapBadge, WorkStatus } from "../../parts/work_badges.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import { type Visit, withQuery } from "../../visit.ts";

type WorkspaceList = z.output<typeof workspaceListSchema>;

const STATUSES = [
  ["active", "Active"],
  ["merged", "Merged"],
  ["abandoned", "Abandoned"],
  ["all", "All"],
] as const;

/** The workspaces of a project: who works on what, and whose changes overlap. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { create },
  json: (visit) => withQuery("/api/workspaces", queryOf(visit)),
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const query = queryOf(visit);
  const { status } = query;
  const listed = await visit.invoke(project.slug, listWorkspaces, query);
  const tickets = listed.workspaces.flatMap(({ ticket }) => ticket ?? []);
  const ticketName = await ticketNames(visit, project, tickets);
  const body = (
    <>
      <h1>Workspaces</h1>
      <div class={project.mayWrite ? "columns" : undefined}>
        <div>
          <div class="list-tools">
            <Segments
              label="Status"
              links={STATUSES.map(([value, words]) => ({
                to: linkWith(visit, { status: value === "active" ? undefined : value }),
                words,
                isCurrent: value === status,
              }))}
            />
          </div>
          <div data-live-part="workspaces" data-live-on="workspace checkin overlap">
            <WorkspaceRows {...{ visit, project, listed, status, ticketName }} />
          </div>
          <Pager visit={visit} page={listed.page} pages={listed.total_pages} />
        </div>
        {project.mayWrite && <NewWorkspace visit={visit} />}
      </div>
    </>
  );
  return { title: "Workspaces", body, project: project.place("workspaces"), live: project.live };
}

function queryOf(visit: Visit) {
  return { status: visit.query("status") ?? "active", page: visit.pageNumber, per_page: 50 };
}

function WorkspaceRows({ visit, project, listed, status, ticketName }: {
  readonly ticketName: (ticket: string) => string;
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly listed: WorkspaceList;
  readonly status: string;
}) {
  if (listed.workspaces.length === 0) {
    return (
      <Empty>
        <p>There is no {status === "all" ? "" : `${status} `}workspace.</p>
        <p>A workspace is a branch of one's own. Agents create one for each ticket.</p>
      </Empty>
    );
  }
  return (
    <ul class="list" data-keys="list">
      {listed.workspaces.map((workspace) => (
        <li>
          <div class="row-title">
            <a href={`${project.base}/workspaces/${encodeURIComponent(workspace.name)}`}>
              {workspace.name}
            </a>
            <WorkStatus status={workspace.status} />
            {workspace.overlaps.length > 0 && <OverlapBadge overlaps={workspace.overlaps} />}
            {workspace.description !== "" && <span class="soft">{workspace.description}</span>}
          </div>
          <div class="meta">
            <AccountName {...{ visit, project }} name={workspace.agent_id} />
            <span>
              {plural(workspace.commits_made, "commit")}, {plural(workspace.files_changed, "file")}
            </span>
            {workspace.ticket !== null && (
              <span>
                for{" "}
                <a href={`${project.base}/tickets/${workspace.ticket}`}>
                  {ticketName(workspace.ticket)}
                </a>
              </span>
            )}
            <span>
              changed <Time at={workspace.updated_at} />
            </span>
          </div>
        </li>
      ))}
    </ul>
  );
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function NewWorkspace({ visit }: { readonly visit: Visit }) {
  return (
    <aside class="card" aria-labelledby="new-workspace">
      <h2 id="new-workspace">New workspace</h2>
      <Form visit={visit} action="create">
        <TextField visit={visit} name="name" label="Name" required maxlength={199} />
        <TextField visit={visit} name="description" label="Description" maxlength={500} />
        <TextField
          visit={visit}
          name="from"
          label="From branch"
          hint="The main branch, if you leave it empty."
          maxlength={200}
        />
        <button class="primary" type="submit">Create it</button>
      </Form>
    </aside>
  );
}

async function create(visit: Visit): Promise<Leads> {
  const { slug, base } = openProject(visit);
  const from = visit.entered("from").trim();
  const { name } = await visit.invoke(slug, createWorkspace, {
    name: visit.entered("name").trim(),
    description: visit.entered("description"),
    ...(from === "" ? {} : { from }),
  });
  const to = `${base}/workspaces/${encodeURIComponent(name)}`;
  return { to, notice: "The workspace is there." };
}
