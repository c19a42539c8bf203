import { z } from "zod";
import { MAX_PATH, TEXT_BOUNDS } from "../../engines/fossil/front/mod.ts";
import { pageFields, timestampSchema } from "../projects/schemas.ts";
import { claimSchema, generationField } from "../tickets/schemas.ts";
import { lineSchema, longTextSchema } from "../../kernel/validation/schemas.ts";

/** Most changes of one commit. */
const MAX_CHANGES = 1000;

/** Total size of the files of one commit, in bytes; the request's body is bounded as well. */
export const MAX_COMMIT_BYTES = 16 * 1024 * 1024;

const status = z.enum(["active", "merged", "abandoned"]);

/** A file that a workspace changes. */
const fileSchema = z.object({
  name: z.string(),
  change_type: z.enum(["added", "modified", "deleted", "renamed"]),
  prev_name: z.string().nullable().meta({ description: "The previous path, if it was renamed" }),
  uuid: z.string().nullable(),
  prev_uuid: z.string().nullable(),
}).meta({ id: "WorkspaceFile" });

/** The fields of a workspace in every answer. */
export const workspaceSchema = z.object({
  name: z.string(),
  branch: z.string(),
  status,
  agent_id: z.string().meta({ description: "The owner" }),
  description: z.string(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
  ticket: z.string().nullable(),
  generation: z.int().nullable().meta({
    description: "The generation of the owner's claim of the ticket",
  }),
  base: z.string().meta({ description: "The check-in to which its changes apply" }),
  tip: z.string().meta({ description: "Its newest check-in" }),
  commits_made: z.int(),
  target_branch: z.string().nullable().meta({
    description: "The branch into which it was merged",
  }),
  merged_as: z.string().nullable().meta({ description: "The merge" }),
});

/** Lines that both sides of a merge changed. */
const hunkSchema = z.object({
  id: z.string().meta({ description: "Stands for the three texts" }),
  line: z.int().meta({ description: "Where it begins in the file that is merged into, from 1" }),
  ancestor: z.string(),
  ours: z.string(),
  theirs: z.string(),
}).meta({ id: "ConflictHunk" });

const pathConflictSchema = z.object({
  path: z.string(),
  kind: z.string(),
  hunks: z.array(hunkSchema).readonly().optional().meta({
    description: "Those of a text, without long ones; at most 50 in all",
  }),
}).meta({
  id: "MergeConflict",
});

/** Another active workspace that changes the same files. */
const overlapSchema = z.object({
  workspace: z.string(),
  agent_id: z.string().meta({ description: "The owner" }),
  paths: z.array(z.string()).readonly().meta({
    description: "The files that both change; at most 100",
  }),
  conflicts: z.array(pathConflictSchema).readonly().nullable().meta({
    description: "The conflicts of a trial merge of the two tips: empty if it succeeds, null if " +
      "it has not been made yet",
  }),
}).meta({ id: "WorkspaceOverlap" });

const overlaps = z.array(overlapSchema).readonly();

export const overlapsSchema = z.object({ overlaps }).meta({ id: "OverlapList" });

/** A workspace in the list. */
export const listedSchema = workspaceSchema.extend({
  files_changed: z.int(),
  overlaps: overlaps.meta({
    description: "Other active workspaces that change the same files",
  }),
}).meta({ id: "Workspace" });

/** A page of workspaces. */
export const workspaceListSchema = z.object({
  workspaces: z.array(listedSchema).readonly(),
  ...pageFields,
});

/** A workspace with its files. */
export const detailedSchema = workspaceSchema.extend({
  files_changed: z.int().meta({ description: "All of them, also beyond `max_files`" }),
  files: z.array(fileSchema).readonly().meta({
    description: "The files that differ between the base and the tip",
  }),
}).meta({ id: "WorkspaceDetails" });

/** The error of a refused change of a workspace. */
export const workspaceConflictSchema = z.object({
  error: z.string().meta({ description: "What went wrong, as a sentence" }),
  conflicts: z.array(pathConflictSchema).optional().meta({
    description: "The conflicts of the merge",
  }),
  tip: z.string().optional().meta({ description: "The current tip of the workspace" }),
  claimed_by: z.string().nullable().optional(),
  claimed_at: z.string().nullable().optional(),
  generation: z.int().optional(),
  expires_at: z.string().optional(),
}).meta({ id: "WorkspaceConflict" });

const agent_id = z.string().max(TEXT_BOUNDS.name).optional().meta({
  description: "In whose name to act; by default, your own. Only admins may name somebody else",
});

/** The fields that every change of a workspace may have. */
export const workFields = { agent_id, generation: generationField };

export const creationSchema = z.object({
  name: z.string().meta({
    description:
      "1 to 199 letters, digits, dots, underscores and hyphens, the first one a letter " +
      "or digit. The name of a merged or abandoned workspace may be used again",
  }),
  description: lineSchema(0, 500).default(""),
  ticket: z.string().max(64).optional().meta({
    description: "The ticket that it is for; you must hold its claim",
  }),
  from: z.string().min(1).max(TEXT_BOUNDS.name).optional().meta({
    description: "The branch from which it starts; by default, the main branch",
  }),
  ...workFields,
});

/** The body of a request that begins the work on a ticket. */
export const startSchema = z.object({
  workspace: z.string().min(1).max(200).optional().meta({
    description: "The name of the workspace; by default yours for the ticket, or `ticket-NUMBER`",
  }),
  from: creationSchema.shape.from,
  ...workFields,
});

/** What somebody works on, and in which workspace. */
export const startedSchema = z.object({
  claim: claimSchema,
  workspace: workspaceSchema,
  others: z.array(workspaceSchema.pick({ name: true, agent_id: true })).meta({
    description: "Other active workspaces for the ticket, newest first",
  }),
}).meta({ id: "StartedWork" });

const path = z.string().min(1).max(MAX_PATH);

const changeSchema = z.object({
  path,
  content: z.string().optional(),
  content_base64: z.string().optional(),
  delete: z.boolean().optional(),
  rename_to: path.optional(),
  executable: z.boolean().optional(),
}).strict().meta({ id: "FileChange" });

const changes = z.array(changeSchema).max(MAX_CHANGES, {
  error: `must have at most ${MAX_CHANGES} entries`,
}).meta({
  description: `At most ${MAX_CHANGES}, with ${MAX_COMMIT_BYTES} bytes of content together`,
});

const message = longTextSchema(TEXT_BOUNDS.comment);

const parent = z.string().regex(/^[0-9a-f]{4,64}$/, {
  error: "must be 4 to 64 lower-case hexadecimal digits",
}).optional();

export const commitSchema = z.object({
  message,
  changes: changes.default([]),
  parent: parent.meta({
    description: "The tip that you know, or a prefix of it; 409 if the workspace has a newer one",
  }),
  files: z.unknown().optional().meta({ description: "Ignored: `changes` lists the files" }),
  ...workFields,
});

export const updateSchema = z.object({
  source: z.string().min(1).max(TEXT_BOUNDS.name).optional().meta({
    description: "The branch to merge; by default, the main branch",
  }),
  message: message.optional(),
  changes: changes.default([]).meta({
    description: "Resolves the conflicts that the first attempt listed: one change for each path",
  }),
  edits: z.array(
    z.object({
      hunk: z.string().regex(/^[0-9a-f]{10}$/, { error: "must be the id of a hunk" }).meta({
        description: "The id of a hunk that the first attempt listed",
      }),
      new_text: z.string(),
    }).strict(),
  ).max(1000).default([]).meta({
    description: "Resolves conflicts within files: the lines in place of each hunk",
  }),
  parent,
  ...workFields,
});

export const mergeSchema = z.object({
  target_branch: z.string().min(1).max(TEXT_BOUNDS.name).optional().meta({
    description: "The branch to merge into; by default, the main branch",
  }),
  tip: parent.meta({ description: "The tip to merge; 409 if the workspace has a newer one" }),
  message: message.optional(),
  ...workFields,
});

/** A new check-in in a workspace. */
export const committedSchema = z.object({
  name: z.string(),
  branch: z.string(),
  uuid: z.string().meta({ description: "The new check-in" }),
  parent: z.string(),
  commits_made: z.int(),
  message: z.string(),
  output: z.string(),
}).meta({ id: "WorkspaceCheckin" });

/** A merged workspace. */
export const mergedSchema = z.object({
  name: z.string(),
  branch: z.string(),
  status: z.literal("merged"),
  target_branch: z.string(),
  uuid: z.string().meta({ description: "The merge" }),
  tip: z.string().meta({ description: "The merged check-in" }),
  merge_output: z.string(),
  commit_output: z.string(),
}).meta({ id: "WorkspaceMerged" });

export const stateSchema = z.object({
  name: z.string(),
  branch: z.string(),
  status,
  agent_id: z.string(),
}).meta({ id: "WorkspaceState" });

export const statusFilter = z.enum(["active", "merged", "abandoned", "all"], {
  error: 'must be "active", "merged", "abandoned" or "all"',
}).default("active");

/** A change of a file in a request. */
export type RequestedChange = z.output<typeof changeSchema>;
