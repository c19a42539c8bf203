import { z } from "zod";

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
  /** Only for calls with so many tokens of input at most. */
  max_input_tokens: z.int().min(1).optional(),
});
export type Price = Readonly<z.infer<typeof priceSchema>>;

/** The prices of a configuration file. */
export const configuredPricesSchema = z.array(priceSchema).max(1000);
