import { z } from "zod";
import { timestampSchema } from "../projects/schemas.ts";

/** A resumable upload of a release's file. */
export const uploadSchema = z.object({
  id: z.string(),
  tag_name: z.string(),
  name: z.string().meta({ description: "The file of the release" }),
  content_type: z.string(),
  offset: z.int().meta({ description: "Received bytes" }),
  length: z.int(),
  is_finished: z.boolean().meta({ description: "Whether the release has the file" }),
  created_at: timestampSchema,
  expires_at: timestampSchema,
}).meta({ id: "Upload" });

export type UploadView = z.output<typeof uploadSchema>;
