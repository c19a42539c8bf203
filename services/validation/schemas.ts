/** Schemas of texts and of closed objects. */
export { closed } from "./closed.ts";
export { publishPatterns } from "./portable_patterns.ts";
export { lineSchema, longTextSchema, paragraphSchema, textSchema, whole } from "./text.ts";
