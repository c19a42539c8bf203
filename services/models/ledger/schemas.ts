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

const dollars = z.number().min(0).max(1_000_000);

/** What a model costs, in US dollars for a million tokens. */
const priceSchema = z.strictObject({
  /** A provider's name, such as `openai`; every one, if absent. */
  provider: z.string().min(1).max(64).optional(),
  /** The model's name; with `*` at its end, every name that begins so. */
  model: z.string().min(1).max(256),
  input: dollars,
  output: dollars,
  /** For tokens that the provider read from its cache; unknown if absent. */
  cached_input: dollars.optional(),
  /** For tokens that the provider wrote to its cache; unknown if absent. */
  cache_write: dollars.optional(),
  /** For those that it keeps for a longer time, such as Anthropic's hour; unknown if absent. */
  cache_write_long: dollars.optional(),
  /** Only for calls with so many tokens of input at most. */
  max_input_tokens: z.int().min(1).optional(),
});
export type Price = Readonly<z.infer<typeof priceSchema>>;

/** The prices of a configuration file. */
export const configuredPricesSchema = z.array(priceSchema).max(1000);
