import { z } from "zod";

const limit = (unit: string) =>
  z.int({ error: "must be a whole number" }).min(0, { error: "must be at least 0" })
    .max(Number.MAX_SAFE_INTEGER / 1000, { error: "is too large" }).nullable().default(null)
    .describe(`Most ${unit} in the period; null for no limit`);

/** The request for a budget. */
export const budgetSchema = z.object({
  max_cost_micro_usd: limit("that the calls may cost, in millionths of a US dollar,"),
  max_tokens: limit("tokens of input and output"),
  warn_percent: z.int({ error: "must be a whole number" })
    .min(1, { error: "must be at least 1" }).max(100, { error: "must be at most 100" })
    .default(80).describe("At which part of a limit it warns"),
}).refine(({ max_cost_micro_usd: cost, max_tokens: tokens }) => cost !== null || tokens !== null, {
  error: "must limit the cost or the tokens",
  path: ["max_cost_micro_usd"],
});
export type BudgetRequest = z.infer<typeof budgetSchema>;

/** By what usage is added up. */
export const USAGE_GROUPS = ["agent", "ticket", "project", "backend", "model", "day"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];
