import { matchesGlob } from "./glob.ts";
import type { Rule } from "./schemas.ts";

/** What all rules that fit a branch demand together. */
export interface BranchRule extends Omit<Rule, "pattern"> {
  /** The patterns that fit; empty where the branch is not protected. */
  readonly patterns: readonly string[];
}

const PUSH = ["write", "admin", "nobody"] as const;
const MERGE = ["write", "admin"] as const;
const LANDING = ["optional", "required"] as const;

/** The strictest demand of each kind among the rules that fit a branch. */
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

/** @param order from the mildest to the strictest */
function strictest<Value extends string>(
  order: readonly [Value, ...Value[]],
  values: readonly Value[],
): Value {
  return order.findLast((value) => values.includes(value)) ?? order[0];
}
