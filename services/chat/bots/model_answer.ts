import { z } from "zod";

/** What is read of a completion. */
export const answerSchema = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })).min(1),
});

/** Many models put JSON into a fenced block even if they are told not to. */
export function withoutFence(answer: string): string {
  const text = answer.trim();
  const start = text.indexOf("\n") + 1;
  const isFenced = start > 0 && text.endsWith("\n```") &&
    /^```(?:json)?$/.test(text.slice(0, start).trim());
  return isFenced ? text.slice(start, -3) : answer;
}
