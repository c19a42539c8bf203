import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { actorOf } from "../../services/projects/mod.ts";
import {
  branchOf,
  fileChangesOf,
  type WorkRequest,
  type WrittenCommit,
} from "../../services/workspaces/mod.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { optionalBody } from "../middleware/body.ts";
import { json, jsonRequest, optionalJsonRequest } from "../schemas.ts";
import { generationOf } from "./generation.ts";
import { projectErrors, projectRoute } from "./route.ts";
import {
  commitSchema,
  committedSchema,
  conflictResponse,
  mergedSchema,
  mergeSchema,
  updateSchema,
} from "./workspace_schemas.ts";

/** Who works in a workspace, by the request's credential and its body. */
type WorkOf = (
  context: Context<AppEnv>,
  body: { readonly agent_id?: string | undefined; readonly generation?: number | undefined },
) => WorkRequest;

const params = z.object({ name: z.string() });

const commitWorkspace = projectRoute("POST /api/workspaces/{name}/commit", {
  summary: "Commit changes of files to a workspace",
  request: {
    params,
    body: jsonRequest(commitSchema, {
      message: "Log in without cookies",
      changes: [{ path: "src/login.ts", content: "export {};\n" }, {
        path: "old.ts",
        delete: true,
      }],
    }),
  },
  responses: {
    200: json(committedSchema, "The check-in"),
    ...projectErrors(400, 413),
    ...conflictResponse,
  },
});

const updateWorkspace = projectRoute("POST /api/workspaces/{name}/update", {
  summary: "Merge another branch into a workspace, and resolve the conflicts",
  request: { params, body: optionalJsonRequest(updateSchema, { source: "trunk" }) },
  responses: {
    200: json(committedSchema, "The merge"),
    ...projectErrors(400, 413),
    ...conflictResponse,
  },
}, optionalBody());

const mergeWorkspace = projectRoute("POST /api/workspaces/{name}/merge", {
  summary: "Merge a workspace into another branch, and close it",
  request: { params, body: optionalJsonRequest(mergeSchema, { target_branch: "trunk" }) },
  responses: {
    200: json(mergedSchema, "The merge"),
    ...projectErrors(400, 413),
    ...conflictResponse,
  },
}, optionalBody());

/** Who works in a workspace, by the request's credential, its `agent_id` and its `generation`. */
export function workRequestOf(accounts: Services["accounts"]): WorkOf {
  return (context, { agent_id, generation }) => {
    const access = context.get("access");
    return {
      caller: callerOf(context),
      actor: actorOf(access, agent_id, accounts),
      isAdmin: access.isAdmin,
      generation: generationOf(context, generation),
    };
  };
}

/** What the routes of one workspace need. */
export interface WorkspacePartOptions {
  readonly workspaces: Services["hosting"]["workspaces"];
  readonly workOf: WorkOf;
}

/** `/api/workspaces/{name}/commit`, `/update` and `/merge`. */
export function workspaceCommitRoutes({ workspaces, workOf }: WorkspacePartOptions) {
  return newRoutes()
    .openapi(commitWorkspace, async (context) => {
      const { message, changes, parent, ...body } = context.req.valid("json");
      const commit = { message, changes: fileChangesOf(changes), parent };
      const { project } = context.get("access");
      const { name } = context.req.valid("param");
      const request = { ...workOf(context, body), ...commit };
      const written = await workspaces.commit(project, name, request);
      return context.json({ ...checkinView(written), message }, 200);
    })
    .openapi(updateWorkspace, async (context) => {
      const { message, changes, parent, source, ...body } = context.req.valid("json");
      const update = { message, changes: fileChangesOf(changes), parent, source };
      const { project } = context.get("access");
      const { name } = context.req.valid("param");
      const request = { ...workOf(context, body), ...update };
      const written = await workspaces.update(project, name, request);
      return context.json({ ...checkinView(written), message: message ?? "" }, 200);
    })
    .openapi(mergeWorkspace, async (context) => {
      const { target_branch, tip, message, ...body } = context.req.valid("json");
      const { project } = context.get("access");
      const merge = { target: target_branch, tip, message };
      const request = { ...workOf(context, body), ...merge };
      const merged = await workspaces.merge(project, context.req.valid("param").name, request);
      return context.json({
        name: merged.workspace.name,
        branch: branchOf(merged.workspace),
        status: "merged" as const,
        target_branch: merged.target,
        uuid: merged.uuid,
        tip: merged.tip,
        merge_output: `Merged ${merged.tip}`,
        commit_output: `New_Version: ${merged.uuid}`,
      }, 200);
    });
}

function checkinView({ workspace, uuid, parent, commitsMade }: WrittenCommit) {
  return {
    name: workspace.name,
    branch: branchOf(workspace),
    uuid,
    parent,
    commits_made: commitsMade,
    output: `New_Version: ${uuid}`,
  };
}
