/**
 * Branch protection: rules per branch pattern, and the one function that applies them. See
 * README.md.
 */
export {
  type BranchRule,
  type Judged,
  type Judgement,
  type ProtectedAction,
  Protection,
  type ReviewStanding,
} from "./protection.ts";
export { awaitedReporters, reasonOf, type Subject } from "./required_checks.ts";
export { ruleOf } from "./rules.ts";
export type { RequiredCheck, Rule } from "./schemas.ts";
