/** The answers of endpoints that read code, in the engine's shapes. */
import { pageFields, timestampSchema } from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import { checkinSchema } from "./schemas.ts";

const changeType = z.enum(["added", "modified", "deleted", "renamed"]);
const entryType = z.enum(["file", "link"]);

/** A parameter that names a check-in. */
export const checkinName = z.string().openapi({
  description: "Any name of a check-in: hash, unique prefix, branch, tag, date, `tip`, …",
});

/** {@link checkinName} in a query; the tip of the main branch by default. */
export const optionalCheckin = checkinName.optional().openapi({
  description: "Any name of a check-in; by default, the tip of the main branch",
});

/** Whether a diff shows changes of white space. */
export const whitespaceParameter = z.enum(["show", "ignore"]).optional().openapi({
  description: "`ignore` leaves out changes of white space within lines",
});

const checkinRefSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  comment: z.string(),
}).openapi("CheckinRef");

export const checkinDetailSchema = checkinSchema.extend({
  files_changed: z.array(z.object({
    name: z.string(),
    change_type: changeType,
    uuid: z.string().nullable().openapi({ description: "Null if the file is deleted" }),
    prev_uuid: z.string().nullable().openapi({ description: "Null if the file is new" }),
    prev_name: z.string().nullable().openapi({ description: "The previous name, if it changed" }),
    type: entryType,
    executable: z.boolean(),
    mode_changed: z.boolean(),
  })).readonly().openapi({ description: "Compared with the primary parent" }),
  children: z.array(z.string()).readonly(),
  cherrypicks: z.array(z.object({ uuid: z.string(), backout: z.boolean() })).readonly(),
}).openapi("CheckinDetail");

export const treeSchema = z.object({
  checkin: z.string(),
  path: z.string(),
  entries: z.array(z.object({
    name: z.string(),
    type: z.enum(["file", "link", "dir"]),
    uuid: z.string().nullable().openapi({ description: "Null for a folder" }),
    size: z.int().nullable().openapi({ description: "Bytes; null for a folder" }),
    executable: z.boolean(),
    last_checkin: z.union([checkinRefSchema, z.null()]).openapi({
      description: "The check-in that last changed the file, or anything in the folder",
    }),
  })).readonly(),
}).openapi("Tree");

export const diffSchema = z.object({
  from: z.string().openapi({ description: "Empty if `to` has no parent" }),
  to: z.string(),
  total: z.int().openapi({ description: "Files that differ, on all pages" }),
  files: z.array(z.object({
    name: z.string(),
    change_type: changeType,
    prev_name: z.string().nullable(),
    uuid: z.string().nullable(),
    prev_uuid: z.string().nullable(),
    is_binary: z.boolean(),
    added: z.int(),
    deleted: z.int(),
    total_lines: z.int().nullable().openapi({
      description: "Lines of the file in `to`; null if it is not there, or not compared by lines",
    }),
    diff: z.string().openapi({ description: "Unified, with its two headers" }),
    is_truncated: z.boolean().openapi({
      description: "Whether the diff is left out because it is too long",
    }),
    unreadable: z.string().nullable(),
  })).readonly(),
}).openapi("Diff");

export const comparisonSchema = z.object({
  from: z.string(),
  to: z.string(),
  common: z.string().nullable().openapi({ description: "The newest check-in that both have" }),
  ahead: z.int().openapi({ description: "Check-ins that `to` has and `from` lacks" }),
  behind: z.int().openapi({ description: "Check-ins that `from` has and `to` lacks" }),
  checkins: z.array(checkinSchema).readonly(),
  ...pageFields,
}).openapi("Comparison");

export const fileLinesSchema = z.object({
  checkin: z.string(),
  path: z.string(),
  uuid: z.string(),
  type: entryType,
  executable: z.boolean(),
  is_binary: z.boolean().openapi({ description: "A binary file has no lines" }),
  size: z.int().openapi({ description: "Bytes of the whole file" }),
  total_lines: z.int().openapi({ description: "Lines of the whole file" }),
  first: z.int().openapi({ description: "The number of the first line, from 1" }),
  lines: z.array(z.string()).readonly(),
  cut_lines: z.array(z.int()).readonly().openapi({
    description: "The numbers of lines that are too long to be shown whole",
  }),
}).openapi("FileLines");

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
}).openapi("Blame");

export const historySchema = z.object({
  path: z.string(),
  checkins: z.array(checkinRefSchema.extend({
    branch: z.string(),
    name: z.string().openapi({ description: "The file's name at that time" }),
    change_type: changeType,
    file_uuid: z.string().nullable(),
    prev_file_uuid: z.string().nullable(),
    prev_name: z.string().nullable(),
  })).readonly(),
  ...pageFields,
}).openapi("FileHistory");
