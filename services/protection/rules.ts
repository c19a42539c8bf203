import { matchesGlob } from "../fossil/front/mod.ts";
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

/** The way that works instead of a push. */
const INSTEAD = "commit to a workspace, and merge that";
const LAND = "commit to a workspace, have it reviewed, and land it";

/**
 * Why a branch refuses pushed check-ins, as a clause; null if it accepts them. Checks, approvals and
 * the queue judge a merge of a workspace. A push would get around them, so only admins push then.
 */
export function pushRefusal(rule: Omit<BranchRule, "patterns">, isAdmin: boolean): string | null {
  if (rule.push === "nobody") return `nobody can push to it: ${LAND}`;
  if (isAdmin) return null;
  if (rule.push === "admin") return `only admins can push to it: ${LAND}`;
  if (rule.landing === "required") return `changes land only through its queue: ${LAND}`;
  const { any, people } = rule.approvals;
  if (any > 0 || people > 0) return `its changes need a review: ${INSTEAD}`;
  const [context] = rule.contexts;
  return context === undefined ? null : `its changes need the check '${context}': ${INSTEAD}`;
}

/** Why a branch refuses merges, as a clause; null if it accepts them. */
export function mergeRefusal(
  { merge }: Pick<BranchRule, "merge">,
  isAdmin: boolean,
): string | null {
  return merge === "admin" && !isAdmin ? "only admins can merge to it" : null;
}

/** @param order the values, from the mildest to the strictest */
function strictest<Value extends string>(
  order: readonly [Value, ...Value[]],
  values: readonly Value[],
): Value {
  return order.findLast((value) => values.includes(value)) ?? order[0];
}
