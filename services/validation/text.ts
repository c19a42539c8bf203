import { z } from "zod";

/**
 * The JSON Schema of a text without control characters (Unicode category Cc). A pattern in a
 * document has no flag `u`, and not every validator supports `\P{Cc}`.
 */
const NO_CONTROLS = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/** A string without control characters, of a bounded length in UTF-16 code units. */
export function textSchema(minLength: number, maxLength: number): z.ZodString {
  const atLeast = minLength === 1
    ? "must not be empty"
    : `must have at least ${minLength} characters`;
  return z.string()
    .min(minLength, { error: atLeast })
    .max(maxLength, { error: `must have at most ${maxLength} characters` })
    .regex(/^\P{Cc}*$/u, { error: "must have no control characters" })
    .meta({ pattern: NO_CONTROLS });
}
