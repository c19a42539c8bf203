/** Errors of schemas in muster's words; schemas of texts and of closed objects; the depth of JSON. */
export { closed } from "./closed.ts";
export { describeIssue, type Fault, faultOf } from "./faults.ts";
export { isShallow, requireShallow } from "./json_depth.ts";
export { isLine, lineSchema, longTextSchema, paragraphSchema, textSchema } from "./text.ts";
