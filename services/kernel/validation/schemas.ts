/** Schemas of texts, of numbers, of closed objects, and of those in which everything has a length. */
import { z } from "zod";

export { bounded, showLengths } from "./bounded.ts";
export { closed, hintFor } from "./closed.ts";
export { publishPatterns } from "./portable_patterns.ts";
export {
  lineSchema,
  longTextSchema,
  paragraphSchema,
  textSchema,
  trimmedLineSchema,
  whole,
} from "./text.ts";

/** The digits of a number, at most nine. */
const DIGITS = /^\d{1,9}$/;

/**
 * A whole number within bounds, or its digits, as URLs have it.
 *
 * @param error what every other value is told: that it "must be ..."
 */
export function numberWithin(minimum: number, maximum: number, error: string) {
  // A check inside of the union would refuse a text in words of its own.
  return z.union([z.string(), z.int()], { error }).refine((given) => {
    const number = Number(given);
    return DIGITS.test(String(given)) && number >= minimum && number <= maximum;
  }, { error }).transform(Number);
}

/** A parameter of a query that is a whole number within bounds. */
export function wholeNumber(description: string, minimum: number, maximum: number) {
  const error = `must be a whole number from ${minimum} to ${maximum}`;
  return numberWithin(minimum, maximum, error).optional()
    .meta({ type: "integer", minimum, maximum, description });
}

/** The longest wait of a request, in seconds. */
const MAX_WAIT_SECONDS = 60;

/** The query parameter to wait for news. */
export const waitSchema = wholeNumber(
  "Seconds to wait if there is nothing yet; 20 or more may end up to two seconds early",
  0,
  MAX_WAIT_SECONDS,
);
