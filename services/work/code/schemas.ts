/** What the operations on a project's code answer, in the engine's shapes. */
import { z } from "zod";
import { signatureSchema } from "../signatures/schemas.ts";
import { lfsPointerSchema, pageFields, timestampSchema } from "../projects/schemas.ts";

export const branchesSchema = z.object({
  branches: z.array(
    z.object({
      name: z.string(),
      status: z.enum(["open", "closed"]),
      last_uuid: z.string(),
      last_checkin: timestampSchema,
      last_user: z.string(),
      checkin_count: z.int(),
      is_private: z.boolean(),
      ahead: z.int().nullable().optional().meta({
        description: "With `divergence=true`, check-ins that it has and the main branch lacks; " +
          "null if counting would take too long",
      }),
      behind: z.int().nullable().optional().meta({
        description: "With `divergence=true`, check-ins that the main branch has and it lacks",
      }),
      is_merged: z.boolean().optional().meta({
        description: "With `divergence=true`, whether the main branch has its newest check-in",
      }),
      is_named: z.boolean().optional().meta({
        description: "With `divergence=true`, whether its name stands for `last_uuid`; not if a " +
          "newer check-in of another branch has the name as a tag",
      }),
    }).meta({ id: "Branch" }),
  ).readonly(),
  total: z.int().meta({ description: "How many branches there are" }),
});

export const tagsSchema = z.object({
  tags: z.array(
    z.object({
      name: z.string(),
      uuid: z.string(),
      timestamp: timestampSchema,
      user: z.string(),
      checkin_count: z.int(),
    }).meta({ id: "Tag" }),
  ).readonly(),
  total: z.int().meta({ description: "How many tags there are" }),
});

export const createdTagSchema = z.object({ name: z.string(), uuid: z.string() })
  .meta({ id: "CreatedTag" });

export const attachmentsSchema = z.object({
  attachments: z.array(z.object({
    uuid: z.string(),
    name: z.string(),
    file_uuid: z.string(),
    size: z.int().nullable(),
    timestamp: timestampSchema,
    user: z.string(),
    comment: z.string(),
  })).readonly(),
}).meta({ id: "Attachments" });

export const contributorsSchema = z.object({
  contributors: z.array(z.object({
    user: z.string(),
    checkin_count: z.int(),
    first_checkin: timestampSchema,
    last_checkin: timestampSchema,
  })).readonly().meta({
    description: "The one with the most check-ins first. The empty check-in that begins a " +
      "repository does not count",
  }),
  months: z.array(z.object({
    month: z.string().meta({ description: "Such as `2026-01`, UTC" }),
    checkin_count: z.int(),
  })).readonly().meta({ description: "Every month with a check-in, the oldest first" }),
}).meta({ id: "Contributors" });

/** A check-in as lists show it. */
export const checkinSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  comment: z.string(),
  branch: z.string(),
  tags: z.array(z.string()).readonly(),
  parents: z.array(z.string()).readonly().meta({ description: "Primary parent first" }),
  is_merge: z.boolean(),
  is_leaf: z.boolean(),
  is_closed: z.boolean(),
}).meta({ id: "Checkin" });

const graphRowSchema = z.object({
  lane: z.int().meta({ description: "The lane of the check-in, from 0 at the left" }),
  passing: z.array(z.int()).readonly().meta({ description: "Lanes of the lines that pass it" }),
  links: z.array(z.object({
    parent: z.string(),
    lane: z.int().meta({ description: "The lane in which the line runs down" }),
    is_merge: z.boolean(),
  })).readonly(),
}).meta({ id: "GraphRow" });

export const timelineSchema = z.object({
  checkins: z.array(checkinSchema).readonly(),
  graph: z.array(graphRowSchema).readonly().optional().meta({
    description: "With `graph=true`, the lines beside each check-in",
  }),
  ...pageFields,
})
  .meta({ id: "Timeline" });

/** Kinds of events of a repository. */
export const ACTIVITY_KINDS = ["checkin", "wiki", "ticket", "technote", "forum", "tag"] as const;

export const activitySchema = z.object({
  events: z.array(z.object({
    kind: z.enum(ACTIVITY_KINDS),
    uuid: z.string(),
    timestamp: timestampSchema,
    user: z.string(),
    comment: z.string(),
  })).readonly(),
  ...pageFields,
}).meta({ id: "Activity" });

const changeType = z.enum(["added", "modified", "deleted", "renamed"]);
const entryType = z.enum(["file", "link"]);

/** A parameter that names a check-in. */
export const checkinName = z.string().meta({
  description: "Any name of a check-in: hash, unique prefix, branch, tag, date, `tip`, …",
});

/** {@link checkinName} in a query; the tip of the main branch by default. */
export const optionalCheckin = checkinName.optional().meta({
  description: "Any name of a check-in; by default, the tip of the main branch",
});

/** Whether a diff shows changes of white space. */
export const whitespaceParameter = z.enum(["show", "ignore"]).optional().meta({
  description: "`ignore` leaves out changes of white space within lines",
});

const checkinRefSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  comment: z.string(),
}).meta({ id: "CheckinRef" });

export const checkinDetailSchema = checkinSchema.extend({
  files_changed: z.array(z.object({
    name: z.string(),
    change_type: changeType,
    uuid: z.string().nullable().meta({ description: "Null if the file is deleted" }),
    prev_uuid: z.string().nullable().meta({ description: "Null if the file is new" }),
    prev_name: z.string().nullable().meta({ description: "The previous name, if it changed" }),
    type: entryType,
    executable: z.boolean(),
    mode_changed: z.boolean(),
  })).readonly().meta({ description: "Compared with the primary parent" }),
  children: z.array(z.string()).readonly(),
  cherrypicks: z.array(z.object({ uuid: z.string(), backout: z.boolean() })).readonly(),
  signature: signatureSchema.optional().meta({
    description: "Absent if the commit has none, or the objects of Git are being made",
  }),
}).meta({ id: "CheckinDetail" });

export const treeSchema = z.object({
  checkin: z.string(),
  path: z.string(),
  entries: z.array(z.object({
    name: z.string(),
    type: z.enum(["file", "link", "dir"]),
    uuid: z.string().nullable().meta({ description: "Null for a folder" }),
    size: z.int().nullable().meta({ description: "Bytes; null for a folder" }),
    executable: z.boolean(),
    last_checkin: z.union([checkinRefSchema, z.null()]).meta({
      description: "The check-in that last changed the file, or anything in the folder",
    }),
  })).readonly(),
}).meta({ id: "Tree" });

export const diffSchema = z.object({
  from: z.string().meta({ description: "Empty if `to` has no parent" }),
  to: z.string(),
  total: z.int().meta({ description: "Files that differ, on all pages" }),
  files: z.array(z.object({
    name: z.string(),
    change_type: changeType,
    prev_name: z.string().nullable(),
    uuid: z.string().nullable(),
    prev_uuid: z.string().nullable(),
    is_binary: z.boolean(),
    added: z.int(),
    deleted: z.int(),
    total_lines: z.int().nullable().meta({
      description: "Lines of the file in `to`; null if it is not there, or not compared by lines",
    }),
    diff: z.string().meta({ description: "Unified, with its two headers" }),
    is_truncated: z.boolean().meta({
      description: "Whether the diff is left out because it is too long",
    }),
    unreadable: z.string().nullable(),
    prev_lfs: z.union([lfsPointerSchema, z.null()]).meta({
      description: "What the file stood for, where it was a pointer of Git LFS",
    }),
    lfs: z.union([lfsPointerSchema, z.null()]).meta({
      description: "What the file stands for, where it is a pointer of Git LFS",
    }),
  })).readonly(),
}).meta({ id: "Diff" });

export const comparisonSchema = z.object({
  from: z.string(),
  to: z.string(),
  common: z.string().nullable().meta({ description: "The newest check-in that both have" }),
  ahead: z.int().meta({ description: "Check-ins that `to` has and `from` lacks" }),
  behind: z.int().meta({ description: "Check-ins that `from` has and `to` lacks" }),
  checkins: z.array(checkinSchema).readonly(),
  ...pageFields,
}).meta({ id: "Comparison" });

export const fileLinesSchema = z.object({
  checkin: z.string(),
  path: z.string(),
  uuid: z.string(),
  type: entryType,
  executable: z.boolean(),
  is_binary: z.boolean().meta({ description: "A binary file has no lines" }),
  size: z.int().meta({ description: "Bytes of the whole file" }),
  total_lines: z.int().meta({ description: "Lines of the whole file" }),
  first: z.int().meta({ description: "The number of the first line, from 1" }),
  lines: z.array(z.string()).readonly(),
  cut_lines: z.array(z.int()).readonly().meta({
    description: "The numbers of lines that are too long to be shown whole",
  }),
  lfs: z.union([lfsPointerSchema, z.null()]).meta({
    description: "What the file stands for if it is a pointer of Git LFS; " +
      "`GET …/api/lfs/{oid}` has the content",
  }),
}).meta({ id: "FileLines" });

export const blameSchema = z.object({
  checkin: z.string(),
  path: z.string(),
  lines: z.array(z.object({
    number: z.int(),
    uuid: z.string(),
    user: z.string(),
    timestamp: z.string(),
    text: z.string(),
  })).readonly(),
}).meta({ id: "Blame" });

export const historySchema = z.object({
  path: z.string(),
  checkins: z.array(checkinRefSchema.extend({
    branch: z.string(),
    name: z.string().meta({ description: "The file's name at that time" }),
    change_type: changeType,
    file_uuid: z.string().nullable(),
    prev_file_uuid: z.string().nullable(),
    prev_name: z.string().nullable(),
  })).readonly(),
  ...pageFields,
}).meta({ id: "FileHistory" });
