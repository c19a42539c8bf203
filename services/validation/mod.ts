/** Words what schemas find wrong, without the schema library's words; and schemas of texts. */
export { describeIssue, type Fault, faultOf } from "./faults.ts";
export { textSchema } from "./text.ts";
