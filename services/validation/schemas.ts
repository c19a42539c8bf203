/** Schemas of texts and of closed objects. */
export { closed } from "./closed.ts";
export { lineSchema, longTextSchema, paragraphSchema, textSchema, whole } from "./text.ts";
