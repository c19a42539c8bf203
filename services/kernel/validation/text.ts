import { z } from "zod";
import { FORGING, isLine, isVisible } from "../words.ts";

/**
 * Refuses halves of surrogate pairs. Artifacts and databases hold whole characters alone: another
 * one would stand for the half.
 */
export function whole(schema: z.ZodString): z.ZodString {
  return schema.refine((text) => text.isWellFormed(), {
    error: "must be well-formed Unicode: it has half of a surrogate pair",
  });
}

/** A text without control characters (Unicode category Cc), in the form that documents publish. */
const NO_CONTROLS = "^[^\\x00-\\x1f\\x7f-\\x9f]*$";

/**
 * A string that is one line wherever it is shown: on a page, in a mail, on IRC. Titles, names and
 * other short texts of projects are such lines, so a person sees something of them unless they may be
 * empty and are blank. Its length is bounded in UTF-16 code units.
 */
export function lineSchema(minLength: number, maxLength: number): z.ZodString {
  return lineOf(z.string(), minLength, maxLength);
}

/** As {@linkcode lineSchema}, without the white space at its ends. */
export function trimmedLineSchema(minLength: number, maxLength: number): z.ZodString {
  return lineOf(z.string().trim(), minLength, maxLength);
}

function lineOf(text: z.ZodString, minLength: number, maxLength: number): z.ZodString {
  return textOf(text, minLength, maxLength)
    .refine(isLine, {
      error: "must have no line breaks, invisible characters or overrides of the text's direction",
    })
    .refine((line) => isVisible(line) || minLength === 0 && line.trim() === "", {
      error: "must have a character that can be seen",
    });
}

/**
 * A string without control characters and halves of surrogate pairs, of a bounded length in UTF-16
 * code units.
 */
export function textSchema(minLength: number, maxLength: number): z.ZodString {
  return textOf(z.string(), minLength, maxLength);
}

function textOf(text: z.ZodString, minLength: number, maxLength: number): z.ZodString {
  const atLeast = minLength === 1
    ? "must not be empty"
    : `must have at least ${minLength} characters`;
  const schema = text
    .min(minLength, { error: atLeast })
    .max(maxLength, { error: `must have at most ${maxLength} characters` })
    .regex(new RegExp(NO_CONTROLS), { error: "must have no control characters" });
  return whole(schema);
}

const NO_NUL = "^[^\\x00]*$";

/**
 * A text of several lines, with any whole characters but NUL: Fossil and SQLite end a text there, so
 * the rest of it would be lost. Its length is bounded in UTF-16 code units.
 */
export function longTextSchema(maxLength: number): z.ZodString {
  const schema = z.string()
    .max(maxLength, { error: `must have at most ${maxLength} characters` })
    .regex(new RegExp(NO_NUL), { error: "must not contain NUL characters" });
  return whole(schema);
}

/** What {@link FORGING} has, except for line feeds and tabs. */
const FORGES_PARAGRAPHS = new RegExp(
  `[${FORGING.replace("\\u0000-\\u001f", "\\u0000-\\u0008\\u000b-\\u001f")}]`,
);

/**
 * A text of several lines whose lines are what they look like: no invisible characters, and no half
 * of a surrogate pair. Its length is bounded in UTF-16 code units.
 */
export function paragraphSchema(maxLength: number): z.ZodString {
  const schema = z.string()
    .min(1, { error: "must not be empty" })
    .max(maxLength, { error: `must have at most ${maxLength} characters` })
    .refine((text) => !FORGES_PARAGRAPHS.test(text), {
      error: "must have no control or invisible characters other than line feeds and tabs",
    })
    .refine(isVisible, { error: "must not be blank" });
  return whole(schema).meta({ pattern: "^[^\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]*$" });
}
