/** Formulates errors of schemas in muster's words; schemas of texts. */
export { describeIssue, type Fault, faultOf } from "./faults.ts";
export { textSchema } from "./text.ts";
