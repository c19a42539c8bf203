import { z } from "zod";
import { accountNameSchema } from "../../people/identity/schemas.ts";
import { lineSchema, paragraphSchema } from "../../kernel/validation/schemas.ts";
import { folded, MAX_DEADLINE, MAX_TEXT, MIN_DEADLINE } from "./question.ts";

const MAX_CHOICES = 10;
const MAX_CHOICE = 100;

const choiceSchema = lineSchema(1, MAX_CHOICE).regex(/^\S(?:.*\S)?$/, {
  error: "must not begin or end with a space",
});

/** An answer to a question. */
export const answerSchema = z.object({
  answer: paragraphSchema(MAX_TEXT).describe("One of the choices, if the question has any"),
});

/** A new question. */
export const questionSchema = z.object({
  text: paragraphSchema(MAX_TEXT).describe("The question, for a person who knows nothing else"),
  choices: z.array(choiceSchema)
    .min(2, { error: "must have at least 2 choices" })
    .max(MAX_CHOICES, { error: `must have at most ${MAX_CHOICES} choices` })
    .refine((choices) => new Set(choices.map(folded)).size === choices.length, {
      error: "must differ from each other in more than upper and lower case",
    })
    .optional().describe("The possible answers; without them, any text is an answer"),
  default: paragraphSchema(MAX_TEXT).optional()
    .describe("The answer that counts if nobody answers until the deadline"),
  deadline: z.union([
    z.int({ error: "must be whole seconds or an ISO 8601 time" }).min(MIN_DEADLINE, {
      error: `must be at least ${MIN_DEADLINE} seconds from now`,
    }).max(MAX_DEADLINE, { error: `must be at most ${MAX_DEADLINE} seconds from now` }),
    z.iso.datetime({ offset: true, error: "must be whole seconds or an ISO 8601 time" }),
  ], { error: "must be whole seconds or an ISO 8601 time" }).optional()
    .describe("When it ends: seconds from now, or a time; at most 30 days away"),
  to: accountNameSchema.optional()
    .describe("The person or admin who is asked; without it, everybody who may answer"),
  ticket: z.string().min(3).max(150).optional()
    .describe("The ticket that it is about, as project/ticket"),
});
export type NewQuestion = z.infer<typeof questionSchema>;
