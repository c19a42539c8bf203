/** Errors of schemas in muster's words; JSON within bounds. */
export { describeIssue, type Fault, faultOf, fieldName } from "./faults.ts";
export { hasManyIndices, isBounded, parseJson, requireBounded } from "./json_text.ts";
