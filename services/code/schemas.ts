/** What the operations on a project's code answer, in the engine's shapes. */
import { z } from "zod";
import { timestampSchema } from "../projects/schemas.ts";

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

/** A parameter that names what has attachments. */
export const attachmentTarget = z.string().meta({
  description: "The name of a wiki page, or the whole id of a ticket or technote",
});

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
