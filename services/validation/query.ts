import { z } from "zod";

/** A parameter of a query that is a whole number within bounds. */
export function wholeNumber(description: string, minimum: number, maximum: number) {
  const error = `must be a whole number from ${minimum} to ${maximum}`;
  return z.union([z.string().regex(/^\d{1,9}$/), z.int()], { error }).transform(Number)
    .refine((number) => number >= minimum && number <= maximum, { error })
    .optional().meta({ type: "integer", minimum, maximum, description });
}

/** The longest wait of a request, in seconds. */
const MAX_WAIT_SECONDS = 60;

/** The query parameter to wait for news. */
export const waitSchema = wholeNumber(
  "Seconds to wait if there is nothing yet; 20 or more may end up to two seconds early",
  0,
  MAX_WAIT_SECONDS,
);
