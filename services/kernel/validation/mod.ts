/** Errors of schemas in muster's words; JSON within bounds. */
export { describeIssue, type Fault, faultOf, fieldName } from "./faults.ts";
export { entriesIn, MAX_ENTRIES, requireBounded } from "./json_depth.ts";
export { hasManyIndices, parseJson } from "./json_text.ts";
