import { z } from "zod";

/** A parameter of a query that is a whole number within bounds. */
export function wholeNumber(description: string, minimum: number, maximum: number) {
  const error = `must be a whole number from ${minimum} to ${maximum}`;
  return z.union([z.string().regex(/^\d{1,9}$/, { error }), z.int()]).transform(Number)
    .refine((number) => number >= minimum && number <= maximum, { error })
    .optional().meta({ type: "integer", minimum, maximum, description });
}
