import { Buffer } from "node:buffer";
import { z } from "zod";
import { Conflict, Invalid, TooLarge, TooMany } from "../../kernel/errors.ts";
import { encodeUtf8 } from "../../engines/fossil/front/mod.ts";
import type { FileChange } from "../../engines/fossil/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { accountKeyOf, actorOf, type Project } from "../projects/mod.ts";
import { Created, operation, type OperationCall } from "../projects/operation.ts";
import { pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import { wholeNumber } from "../../kernel/validation/schemas.ts";
import { type Claims, type Tickets, viewOfClaim } from "../tickets/mod.ts";
import { claimRefusalSchema, OF_GENERATION, ticketIdSchema } from "../tickets/schemas.ts";
import type { Overlap } from "./overlaps.ts";
import {
  branchOf,
  type OpenedWorkspace,
  type WorkRequest,
  type Workspace,
  type WrittenCommit,
} from "./records.ts";
import {
  commitSchema,
  committedSchema,
  creationSchema,
  detailedSchema,
  MAX_COMMIT_BYTES,
  mergedSchema,
  mergeSchema,
  overlapsSchema,
  type RequestedChange,
  startedSchema,
  startSchema,
  stateSchema,
  statusFilter,
  updateSchema,
  workFields,
  workspaceConflictSchema,
  workspaceListSchema,
  workspaceSchema,
} from "./schemas.ts";
import { startWork } from "./starting.ts";
import type { Workspaces } from "./workspaces.ts";

/** What the operations on workspaces call. */
interface WorkspaceServices {
  readonly hosting: {
    readonly workspaces: Workspaces;
    readonly tickets: Pick<Tickets, "resolve">;
    readonly claims: Pick<Claims, "claim" | "release">;
  };
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
}

const byName = z.object({ name: z.string() });

/** What tools say about the workspace that a call names. */
const ofWorkspace = { workspace: "Its name" };
const names = { workspace: "name" };
const FIND = { notFound: "list_workspaces shows the workspaces" };

/** Most files that a request may ask for. */
const MAX_FILES = 100_000;

const isRefused = { error: Conflict, schema: workspaceConflictSchema };

function workOf(
  { accounts }: WorkspaceServices,
  { access, caller }: OperationCall,
  { agent_id, generation }: z.output<z.ZodObject<typeof workFields>>,
): WorkRequest {
  const actor = actorOf(access, agent_id, accounts);
  return { caller, actor, isAdmin: access.isAdmin, generation };
}

export const listWorkspaces = operation({
  http: "GET /api/workspaces",
  needs: "read",
  mcp: {
    name: "list_workspaces",
    about: "Lists workspaces, newest first: who works on what, on how many files, and which " +
      "others change the same files (overlaps). get_my_work shows your own.",
    takes: {
      status: "Only those of this state",
      agent: 'Only the workspaces of this agent or person; "me" is you',
    },
    names: { agent: "owner" },
    list: { field: "workspaces", noun: "workspaces", limit: 25 },
  },
  summary: "The workspaces, newest first",
  input: z.object({
    status: statusFilter,
    ticket: z.string().regex(/^[0-9a-f]{40,64}$/, { error: "must be the whole id of a ticket" })
      .optional().meta({ description: "Only workspaces for this ticket" }),
    owner: z.string().min(1).max(200).optional().meta({
      description: "Only workspaces of this account; `me` is the caller",
    }),
    ...pageParameters,
  }),
  ok: { schema: workspaceListSchema, description: "The workspaces" },
}, async ({ hosting, accounts }: WorkspaceServices, input, { access, project }) => {
  const { workspaces } = hosting;
  const { status, ticket, owner, ...page } = input;
  const { workspaces: opened, total } = await workspaces.list(project, {
    status: status === "all" ? null : status,
    ticket,
    owner: accountKeyOf(owner, access, accounts),
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
  return { workspaces: listed, ...pageOf(page, total) };
});

export const createWorkspace = operation({
  http: "POST /api/workspaces/create",
  needs: "write",
  mcp: {
    name: "create_workspace",
    about: "Makes a workspace, a branch workspace/NAME of your own, for your commits. Claim the " +
      "ticket first and name it here. Then commit_files.",
    names,
    takes: {
      workspace: "Letters, digits, dots, underscores and hyphens, such as fix-login",
      description: "What you will do in it",
      ticket: "The ticket that it is for, which you have claimed",
      from: "The branch from which it starts; the main one if absent",
      generation: OF_GENERATION,
    },
    advice: {
      notFound: "list_tickets shows the tickets, and get_branches the branches",
      conflict: "claim_ticket claims a ticket, and list_workspaces shows the names in use",
    },
  },
  summary: "Create a workspace, a branch of your own",
  input: creationSchema,
  bodyName: "WorkspaceRequest",
  example: { name: "fix-login", description: "Log in without cookies" },
  created: {
    schema: workspaceSchema.meta({ id: "CreatedWorkspace" }),
    description: "The workspace",
  },
  refusals: [{ error: TooMany }, isRefused],
}, async (services: WorkspaceServices, { ticket, agent_id, generation, ...request }, call) => {
  const work = workOf(services, call, { agent_id, generation });
  const workspace = { ...request, ...await ticketOf(services, call.project, ticket) };
  return new Created(
    viewOf(await services.hosting.workspaces.create(call.project, workspace, work)),
  );
});

export const startTicket = operation({
  http: "POST /api/tickets/{uuid}/start",
  needs: "write",
  summary: "Claim a ticket and make a workspace for it, or go on with those that you have",
  description: "Both or neither: if the workspace cannot be made, the ticket is not claimed.",
  input: startSchema.extend({ uuid: ticketIdSchema }),
  bodyName: "WorkStart",
  example: {},
  hasOptionalBody: true,
  created: { schema: startedSchema, description: "The claim or the workspace is new" },
  ok: { schema: startedSchema, description: "You had both; the lease is renewed" },
  refusals: [{ error: TooMany }, {
    error: Conflict,
    schema: claimRefusalSchema,
    description: "Refused because of the ticket's claim or the state of the project",
  }],
}, async (services: WorkspaceServices, { uuid, workspace: name, from, ...by }, call) => {
  const { hosting } = services;
  const ticket = await hosting.tickets.resolve(call.project, uuid, {
    absence: "Ticket not found in repository",
  });
  const { caller, actor, generation } = workOf(services, call, by);
  const request = { caller, actor, generation, name, from };
  const { claim, opened, others, isNew } = await startWork(hosting, call.project, ticket, request);
  const view = {
    claim: viewOfClaim(claim),
    workspace: viewOf(opened),
    others: others.map(({ workspace: { name, owner } }) => ({ name, agent_id: owner.name })),
  };
  return isNew ? new Created(view) : view;
});

async function ticketOf(
  { hosting: { tickets } }: WorkspaceServices,
  project: Project,
  id: string | undefined,
) {
  if (id === undefined) return {};
  return { ticket: (await tickets.resolve(project, id)).uuid };
}

export const getWorkspace = operation({
  http: "GET /api/workspaces/{name}",
  needs: "read",
  summary: "A workspace with the files that it changes",
  input: byName.extend({
    max_files: wholeNumber("Most entries of `files`; all files by default", 0, MAX_FILES),
  }),
  ok: { schema: detailedSchema, description: "The workspace" },
}, async ({ hosting: { workspaces } }: WorkspaceServices, { name, max_files }, { project }) => {
  const workspace = await workspaces.find(project, name);
  const line = await workspaces.line(project, workspace);
  const { files, total } = await workspaces.files(project, line, max_files);
  const entries = files.map(({ name, change_type, prev_name, uuid, prev_uuid }) => ({
    name,
    change_type,
    prev_name,
    uuid,
    prev_uuid,
  }));
  return { ...viewOf({ workspace, line }), files_changed: total, files: entries };
});

export const getWorkspaceOverlaps = operation({
  http: "GET /api/workspaces/{name}/overlap",
  needs: "read",
  summary: "The other active workspaces that change the same files",
  description:
    "A trial merge says of each whether the two tips conflict. Answers are kept by the " +
    "two tips; one request makes at most 50 trial merges.",
  input: byName,
  ok: { schema: overlapsSchema, description: "The overlaps" },
}, async ({ hosting: { workspaces } }: WorkspaceServices, { name }, { project }) => {
  const { id } = await workspaces.find(project, name);
  const { overlaps } = await workspaces.overlaps.of(project, (one) => one.id === id);
  return { overlaps: overlapViews(overlaps.get(id)) };
});

export const commitToWorkspace = operation({
  http: "POST /api/workspaces/{name}/commit",
  needs: "write",
  summary: "Commit changes of files to a workspace",
  input: commitSchema.extend(byName.shape),
  bodyName: "WorkspaceCommit",
  example: {
    message: "Log in without cookies",
    changes: [{ path: "src/login.ts", content: "export {};\n" }, { path: "old.ts", delete: true }],
  },
  ok: { schema: committedSchema, description: "The check-in" },
  refusals: [isRefused],
}, async (services: WorkspaceServices, { name, message, changes, parent, ...by }, call) => {
  const commit = { message, changes: fileChangesOf(changes), parent };
  const request = { ...workOf(services, call, by), ...commit };
  const written = await services.hosting.workspaces.commit(call.project, name, request);
  return { ...checkinView(written), message };
});

export const updateWorkspace = operation({
  http: "POST /api/workspaces/{name}/update",
  needs: "write",
  summary: "Merge another branch into a workspace, and resolve the conflicts",
  input: updateSchema.extend(byName.shape),
  bodyName: "WorkspaceUpdate",
  example: { source: "trunk" },
  hasOptionalBody: true,
  ok: { schema: committedSchema, description: "The merge" },
  refusals: [isRefused],
}, async (services: WorkspaceServices, { name, message, changes, ...rest }, call) => {
  const { parent, source, edits, ...by } = rest;
  const decided = Object.fromEntries(edits.map(({ hunk, new_text }) => [hunk, new_text]));
  const update = { message, changes: fileChangesOf(changes), parent, source, decided };
  const request = { ...workOf(services, call, by), ...update };
  const written = await services.hosting.workspaces.update(call.project, name, request);
  return { ...checkinView(written), message: message ?? "" };
});

export const mergeWorkspace = operation({
  http: "POST /api/workspaces/{name}/merge",
  needs: "write",
  mcp: {
    name: "merge_workspace",
    about: "Merges a workspace into another branch, by default the main one, closes it and its " +
      "ticket. Branch protection may require an approved review and passed checks first. For an " +
      "approved review that CI must test, use land_review.",
    names,
    takes: {
      ...ofWorkspace,
      target_branch: "The main branch if absent",
      tip: "The tip that you know: fails if there is a newer one",
      message: "The comment of the merge",
      generation: OF_GENERATION,
    },
    shows: ["name", "status", "target_branch", "uuid", "tip"],
    advice: {
      ...FIND,
      conflict: "get_workspace shows its state",
      mergeConflict: "Call update_workspace, then get it reviewed again",
      forbidden: "get_review shows what its review still needs; create_review opens one",
    },
  },
  summary: "Merge a workspace into another branch, and close it",
  input: mergeSchema.extend(byName.shape),
  bodyName: "WorkspaceMerge",
  example: { target_branch: "trunk" },
  hasOptionalBody: true,
  ok: { schema: mergedSchema, description: "The merge" },
  refusals: [isRefused],
}, async (services: WorkspaceServices, { name, target_branch, tip, message, ...by }, call) => {
  const request = { ...workOf(services, call, by), target: target_branch, tip, message };
  const merged = await services.hosting.workspaces.merge(call.project, name, request);
  return {
    name: merged.workspace.name,
    branch: branchOf(merged.workspace),
    status: "merged" as const,
    target_branch: merged.target,
    uuid: merged.uuid,
    tip: merged.tip,
    merge_output: `Merged ${merged.tip}`,
    commit_output: `New_Version: ${merged.uuid}`,
  };
});

/** The input of a change of a workspace's state. */
const workInput = byName.extend(workFields);
const work = { bodyName: "WorkspaceWork", example: {}, hasOptionalBody: true } as const;
const changed = { schema: stateSchema, description: "The workspace after the change" };

export const abandonWorkspace = operation({
  http: "DELETE /api/workspaces/{name}/abandon",
  needs: "write",
  mcp: {
    name: "abandon_workspace",
    about: "Closes your workspace without merging it. Its check-ins stay, and restore_workspace " +
      "opens it again. Your claim stays: release_ticket gives the ticket back.",
    takes: { ...ofWorkspace, generation: OF_GENERATION },
    names,
    hints: { destructiveHint: true },
    advice: FIND,
  },
  summary: "Close a workspace without merging it; nothing is erased",
  input: workInput,
  ...work,
  inQuery: ["agent_id"],
  ok: changed,
  refusals: [isRefused],
}, async (services: WorkspaceServices, { name, ...by }, call) => {
  const { workspaces } = services.hosting;
  return stateOf(await workspaces.abandon(call.project, name, workOf(services, call, by)));
});

export const restoreWorkspace = operation({
  http: "POST /api/workspaces/{name}/restore",
  needs: "write",
  mcp: {
    name: "restore_workspace",
    about: "Opens an abandoned workspace of yours again, with its check-ins.",
    takes: { ...ofWorkspace, generation: OF_GENERATION },
    names,
    advice: { notFound: 'list_workspaces with status "abandoned" shows them' },
  },
  summary: "Open an abandoned workspace again",
  input: workInput,
  ...work,
  ok: changed,
  refusals: [isRefused, { error: TooMany }],
}, async (services: WorkspaceServices, { name, ...by }, call) => {
  const { workspaces } = services.hosting;
  return stateOf(await workspaces.restore(call.project, name, workOf(services, call, by)));
});

export const takeOverWorkspace = operation({
  http: "POST /api/workspaces/{name}/takeover",
  needs: "write",
  mcp: {
    name: "take_over_workspace",
    about: "Makes the workspace of another agent yours, after you have claimed its ticket, to " +
      "continue work that somebody left.",
    takes: { ...ofWorkspace, generation: OF_GENERATION },
    names,
    advice: FIND,
  },
  summary: "Take over the workspace of a ticket that you have claimed",
  input: workInput,
  ...work,
  ok: changed,
  refusals: [isRefused, { error: TooMany }],
}, async (services: WorkspaceServices, { name, ...by }, call) => {
  const { workspaces } = services.hosting;
  return stateOf(await workspaces.takeOver(call.project, name, workOf(services, call, by)));
});

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

function stateOf(workspace: Workspace) {
  const { name, status, owner } = workspace;
  return { name, branch: branchOf(workspace), status, agent_id: owner.name };
}

function overlapViews(overlaps: readonly Overlap[] = []) {
  return overlaps.map(({ workspace: { name, owner }, paths, conflicts }) => ({
    workspace: name,
    agent_id: owner.name,
    paths,
    conflicts,
  }));
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

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Turns the changes of a request into the engine's, which checks their paths and contents.
 *
 * @throws Invalid if a change is incomplete or contradicts itself; TooLarge
 */
function fileChangesOf(changes: readonly RequestedChange[]): FileChange[] {
  let bytes = 0;
  return changes.map((change) => {
    const file = fileChangeOf(change);
    if ("content" in file) bytes += file.content?.length ?? 0;
    if (bytes > MAX_COMMIT_BYTES) {
      throw new TooLarge(
        `The files of a commit must not exceed ${MAX_COMMIT_BYTES} bytes together`,
      );
    }
    return file;
  });
}

function fileChangeOf(change: RequestedChange): FileChange {
  const { path, rename_to, executable } = change;
  for (const name of [path, rename_to ?? ""]) {
    if (!name.isWellFormed()) throw new Invalid("A path is not valid Unicode");
  }
  const content = contentOf(change);
  const mode = executable === undefined
    ? {}
    : { mode: executable ? "executable" as const : "file" as const };
  if (change.delete === true) {
    if (content !== null || rename_to !== undefined || executable !== undefined) {
      throw new Invalid(`The change of "${path}" deletes the file and also changes it`);
    }
    return { kind: "delete", path };
  }
  if (rename_to !== undefined) {
    const more = content === null ? {} : { content };
    return { kind: "move", from: path, path: rename_to, ...more, ...mode };
  }
  if (content !== null) return { kind: "write", path, content, ...mode };
  if (mode.mode !== undefined) return { kind: "mode", path, mode: mode.mode };
  throw new Invalid(
    `The change of "${path}" needs "content", "content_base64", "delete", "rename_to" or ` +
      `"executable"`,
  );
}

function contentOf({ path, content, content_base64 }: RequestedChange): Uint8Array | null {
  if (content !== undefined && content_base64 !== undefined) {
    throw new Invalid(`The change of "${path}" has both "content" and "content_base64"`);
  }
  if (content !== undefined) {
    if (content.isWellFormed()) return encodeUtf8(content);
    throw new Invalid(`"content" of "${path}" is not valid Unicode: send "content_base64"`);
  }
  if (content_base64 === undefined) return null;
  if (content_base64.length % 4 !== 0 || !BASE64.test(content_base64)) {
    throw new Invalid(`"content_base64" of "${path}" is not base64`);
  }
  return new Uint8Array(Buffer.from(content_base64, "base64"));
}
