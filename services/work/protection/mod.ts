/**
 * Branch protection: rules per branch pattern, and the one function that applies them. See
 * README.md.
 */
export { type Judged, Protection, type ReviewStanding } from "./protection.ts";
export { awaitedReporters, type BranchRule, pushRefusal, reasonOf, runnersOf } from "./rules.ts";
export type { RequiredCheck } from "./schemas.ts";
