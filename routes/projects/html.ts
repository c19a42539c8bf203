import { z } from "../extended_zod.ts";

/** A parameter that asks for texts as HTML too. */
export const htmlParameter = {
  html: z.enum(["true", "false"], { error: 'must be "true" or "false"' }).optional().openapi({
    description: "`true` also returns the texts as HTML without scripts, styles, frames and forms",
  }),
};

/** A text as HTML. */
export const htmlSchema = z.string().optional().openapi({
  description: "As HTML, with `html=true`",
});
