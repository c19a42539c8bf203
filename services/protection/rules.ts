import { matchesGlob } from "./glob.ts";
import type { Rule } from "./schemas.ts";

/** The combined demands of all rules that match a branch. */
export interface BranchRule extends Omit<Rule, "pattern"> {
  /** The matching patterns; empty if the branch is not protected. */
  readonly patterns: readonly string[];
}

const PUSH = ["write", "admin", "nobody"] as const;
const MERGE = ["write", "admin"] as const;
const LANDING = ["optional", "required"] as const;

/** Combines the rules that match a branch: the strictest demand of each kind applies. */
export function ruleOf(rules: readonly Rule[], branch: string): BranchRule {
  const fitting = rules.filter(({ pattern }) => matchesGlob(pattern, branch));
  return {
    patterns: fitting.map(({ pattern }) => pattern),
    contexts: [...new Set(fitting.flatMap(({ contexts }) => contexts))],
    approvals: {
      any: Math.max(0, ...fitting.map(({ approvals }) => approvals.any)),
      people: Math.max(0, ...fitting.map(({ approvals }) => approvals.people)),
    },
    push: strictest(PUSH, fitting.map(({ push }) => push)),
    merge: strictest(MERGE, fitting.map(({ merge }) => merge)),
    landing: strictest(LANDING, fitting.map(({ landing }) => landing)),
  };
}

/** @param order the values, from the mildest to the strictest */
function strictest<Value extends string>(
  order: readonly [Value, ...Value[]],
  values: readonly Value[],
): Value {
  return order.findLast((value) => values.includes(value)) ?? order[0];
}
