import type { Actor } from "../projects/mod.ts";
import type { BranchRule } from "../protection/mod.ts";
import type { ReviewStatus, Verdict } from "./records.ts";

/** Kinds of actors that are people. The operator holds the API token. */
const PEOPLE: ReadonlySet<Actor["kind"]> = new Set(["person", "admin", "operator"]);

/** The valid approvals, and the number required. */
export interface Approvals {
  readonly any: number;
  readonly people: number;
  readonly required: { readonly any: number; readonly people: number };
  readonly isEnough: boolean;
}

type RequiredApprovals = Pick<BranchRule, "approvals">;

/**
 * Counts the approvals among the standing verdicts. At least one is required, whatever the rule
 * says.
 */
export function approvalsOf(verdicts: readonly Verdict[], rule: RequiredApprovals): Approvals {
  const given = verdicts.filter(({ verdict }) => verdict === "approved");
  const any = given.length;
  const people = given.filter(({ reviewer }) => PEOPLE.has(reviewer.kind)).length;
  const required = { any: Math.max(rule.approvals.any, 1), people: rule.approvals.people };
  const isEnough = any >= required.any && people >= required.people;
  return { any, people, required, isEnough };
}

/** What is missing for an approval, such as "1 of 2 approvals, 0 of 1 by people". */
export function describeApprovals({ any, people, required }: Approvals): string {
  const total = `${any} of ${required.any} ${required.any === 1 ? "approval" : "approvals"}`;
  return required.people === 0 ? total : `${total}, ${people} of ${required.people} by people`;
}

/**
 * The status of an open review. A request for changes withdraws the approvals before it; enough
 * approvals after it overrule it.
 */
export function statusOf(verdicts: readonly Verdict[], rule: RequiredApprovals): ReviewStatus {
  if (approvalsOf(verdicts, rule).isEnough) return "approved";
  return verdicts.some(({ verdict }) => verdict === "changes_requested")
    ? "changes_requested"
    : "pending";
}
