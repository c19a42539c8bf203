import { z } from "zod";

/** The report of `muster doctor --json`. */
export const reportSchema = z.object({
  findings: z.array(z.object({
    level: z.enum(["error", "warning", "note"]),
    check: z.string(),
    message: z.string(),
    fix: z.string(),
  })),
});

export type Finding = z.infer<typeof reportSchema>["findings"][number];
