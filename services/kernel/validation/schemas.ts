/** Schemas of texts, of closed objects, and of those in which everything has a length. */
export { bounded, showLengths } from "./bounded.ts";
export { closed, hintFor } from "./closed.ts";
export { publishPatterns } from "./portable_patterns.ts";
export { numberWithin, waitSchema, wholeNumber } from "./query.ts";
export {
  lineSchema,
  longTextSchema,
  paragraphSchema,
  textSchema,
  trimmedLineSchema,
  whole,
} from "./text.ts";
