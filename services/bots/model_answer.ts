import { z } from "zod";

/** What is read of a completion. */
export const answerSchema = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })).min(1),
});
