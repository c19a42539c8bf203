/** Formulates errors of schemas in muster's words; schemas of texts, and of objects without unknown fields. */
export { closed } from "./closed.ts";
export { describeIssue, type Fault, faultOf } from "./faults.ts";
export { textSchema } from "./text.ts";
