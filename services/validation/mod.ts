/** Errors of schemas in muster's words; the depth of JSON. */
export { describeIssue, type Fault, faultOf, fieldName } from "./faults.ts";
export { isShallow, requireBounded } from "./json_depth.ts";
