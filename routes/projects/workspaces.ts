import { pageOf, pageParameters, rangeOf } from "../../services/projects/schemas.ts";
import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { accountKeyOf } from "../../services/projects/mod.ts";
import {
  branchOf,
  type OpenedWorkspace,
  type Overlap,
  type Workspace,
} from "../../services/workspaces/mod.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { optionalBody } from "../middleware/body.ts";
import { json, jsonRequest, optionalJsonRequest, wholeNumber } from "../schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";
import {
  workRequestOf,
  workspaceCommitRoutes,
  type WorkspacePartOptions,
} from "./workspace_commits.ts";
import {
  conflictResponse,
  creationSchema,
  detailedSchema,
  overlapsSchema,
  stateSchema,
  statusFilter,
  workFields,
  workspaceListSchema,
  workspaceSchema,
} from "./workspace_schemas.ts";

const params = z.object({ name: z.string() });
const workBody = optionalJsonRequest(z.object(workFields).meta({ id: "WorkspaceWork" }), {});

const listWorkspaces = projectRoute("GET /api/workspaces", {
  summary: "The workspaces, newest first",
  request: {
    query: z.object({
      status: statusFilter,
      ticket: z.string().regex(/^[0-9a-f]{40,64}$/, { error: "must be the whole id of a ticket" })
        .optional().openapi({ description: "Only workspaces for this ticket" }),
      owner: z.string().min(1).max(200).optional().openapi({
        description: "Only workspaces of this account; `me` is the caller",
      }),
      ...pageParameters,
    }),
  },
  responses: {
    200: json(workspaceListSchema, "The workspaces"),
    ...projectErrors(400),
  },
});

const createWorkspace = projectRoute("POST /api/workspaces/create", {
  summary: "Create a workspace, a branch of your own",
  request: {
    body: jsonRequest(creationSchema, { name: "fix-login", description: "Log in without cookies" }),
  },
  responses: {
    201: json(workspaceSchema.openapi("CreatedWorkspace"), "The workspace"),
    ...projectErrors(400, 413, 429),
    ...conflictResponse,
  },
});

/** Most files that a request may ask for. */
const MAX_FILES = 100_000;

const getWorkspace = projectRoute("GET /api/workspaces/{name}", {
  summary: "A workspace with the files that it changes",
  request: {
    params,
    query: z.object({
      max_files: wholeNumber("Most entries of `files`; all files by default", 0, MAX_FILES),
    }),
  },
  responses: { 200: json(detailedSchema, "The workspace"), ...projectErrors(400) },
});

const getOverlap = projectRoute("GET /api/workspaces/{name}/overlap", {
  summary: "The other active workspaces that change the same files",
  description:
    "A trial merge says of each whether the two tips conflict. Answers are kept by the " +
    "two tips; one request makes at most 50 trial merges.",
  request: { params },
  responses: { 200: json(overlapsSchema, "The overlaps"), ...projectErrors() },
});

const changedResponses = {
  200: json(stateSchema, "The workspace after the change"),
  ...projectErrors(400, 413),
  ...conflictResponse,
};

const abandonWorkspace = projectRoute("DELETE /api/workspaces/{name}/abandon", {
  summary: "Close a workspace without merging it; nothing is erased",
  request: { params, body: workBody, query: z.object({ agent_id: workFields.agent_id }) },
  responses: changedResponses,
}, optionalBody());

const restoreWorkspace = projectRoute("POST /api/workspaces/{name}/restore", {
  summary: "Open an abandoned workspace again",
  request: { params, body: workBody },
  responses: { ...changedResponses, ...projectErrors(400, 413, 429) },
}, optionalBody());

const takeOverWorkspace = projectRoute("POST /api/workspaces/{name}/takeover", {
  summary: "Take over the workspace of a ticket that you have claimed",
  request: { params, body: workBody },
  responses: { ...changedResponses, ...projectErrors(400, 413, 429) },
}, optionalBody());

/** `/api/workspaces…`. */
export function workspaceRoutes({ hosting, accounts }: Pick<Services, "hosting" | "accounts">) {
  const { workspaces, repositories } = hosting;
  const workOf = workRequestOf(accounts);
  const ticketOf = async (context: Context<AppEnv>, id: string | undefined) => {
    if (id === undefined) return {};
    const { project } = context.get("access");
    const found = await repositories.read(project, (repository) => repository.resolveTicket(id));
    return { ticket: found.uuid };
  };
  return newRoutes()
    .openapi(listWorkspaces, async (context) => {
      const { status, ticket, owner, ...page } = context.req.valid("query");
      const { project } = context.get("access");
      const { workspaces: opened, total } = await workspaces.list(project, {
        status: status === "all" ? null : status,
        ticket,
        owner: accountKeyOf(owner, context.get("access"), accounts),
        ...rangeOf(page),
      });
      const counts = await workspaces.fileCounts(project, opened);
      const shown = new Set(opened.map(({ workspace }) => workspace.id));
      const { overlaps } = await workspaces.overlaps.of(project, ({ id }) => shown.has(id));
      const listed = opened.map((one, index) => ({
        ...viewOf(one),
        files_changed: counts[index] ?? 0,
        overlaps: overlapViews(overlaps.get(one.workspace.id)),
      }));
      return context.json({ workspaces: listed, ...pageOf(page, total) }, 200);
    })
    .openapi(createWorkspace, async (context) => {
      const { ticket, agent_id, generation, ...request } = context.req.valid("json");
      const work = workOf(context, { agent_id, generation });
      const workspace = { ...request, ...await ticketOf(context, ticket) };
      const created = await workspaces.create(context.get("access").project, workspace, work);
      return context.json(viewOf(created), 201);
    })
    .openapi(getWorkspace, async (context) => {
      const { project } = context.get("access");
      const workspace = await workspaces.find(project, context.req.valid("param").name);
      const line = await workspaces.line(project, workspace);
      const { max_files: limit } = context.req.valid("query");
      const { files, total } = await workspaces.files(project, line, limit);
      const entries = files.map(({ name, change_type, prev_name, uuid, prev_uuid }) => ({
        name,
        change_type,
        prev_name,
        uuid,
        prev_uuid,
      }));
      const view = viewOf({ workspace, line });
      return context.json({ ...view, files_changed: total, files: entries }, 200);
    })
    .openapi(getOverlap, async (context) => {
      const { project } = context.get("access");
      const { id } = await workspaces.find(project, context.req.valid("param").name);
      const { overlaps } = await workspaces.overlaps.of(project, (one) => one.id === id);
      return context.json({ overlaps: overlapViews(overlaps.get(id)) }, 200);
    })
    .route("/", workspaceCommitRoutes({ workspaces, workOf }))
    .route("/", workspaceStateRoutes({ workspaces, workOf }));
}

/** `/api/workspaces/{name}/abandon`, `/restore` and `/takeover`. */
function workspaceStateRoutes({ workspaces, workOf }: WorkspacePartOptions) {
  return newRoutes()
    .openapi(abandonWorkspace, async (context) => {
      const { agent_id = context.req.valid("query").agent_id, generation } = context.req.valid(
        "json",
      );
      const { project } = context.get("access");
      const work = workOf(context, { agent_id, generation });
      const { name } = context.req.valid("param");
      return context.json(stateOf(await workspaces.abandon(project, name, work)), 200);
    })
    .openapi(restoreWorkspace, async (context) => {
      const { project } = context.get("access");
      const work = workOf(context, context.req.valid("json"));
      const { name } = context.req.valid("param");
      return context.json(stateOf(await workspaces.restore(project, name, work)), 200);
    })
    .openapi(takeOverWorkspace, async (context) => {
      const { project } = context.get("access");
      const work = workOf(context, context.req.valid("json"));
      const { name } = context.req.valid("param");
      return context.json(stateOf(await workspaces.takeOver(project, name, work)), 200);
    });
}

function viewOf({ workspace, line }: OpenedWorkspace) {
  return {
    ...stateOf(workspace),
    description: workspace.description,
    created_at: new Date(workspace.createdAt).toISOString(),
    updated_at: new Date(workspace.updatedAt).toISOString(),
    ticket: workspace.ticket,
    generation: workspace.generation,
    base: line.base,
    tip: line.tip,
    commits_made: line.commitsMade,
    target_branch: workspace.targetBranch,
    merged_as: workspace.mergedAs,
  };
}

function overlapViews(overlaps: readonly Overlap[] = []) {
  return overlaps.map(({ workspace: { name, owner }, paths, conflicts }) => ({
    workspace: name,
    agent_id: owner.name,
    paths,
    conflicts,
  }));
}

function stateOf(workspace: Workspace) {
  const { name, status, owner } = workspace;
  return { name, branch: branchOf(workspace), status, agent_id: owner.name };
}
