/** Words what a schema finds wrong. No wording of the schema library reaches a user. */
export { describeIssue, type Fault, faultOf } from "./faults.ts";
