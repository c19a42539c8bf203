import { matchesGlob } from "../fossil/front/mod.ts";
import type { Rule } from "./schemas.ts";

/** Somebody who may report a check: an account, or a project token, which has no key here. */
export interface Reporter {
  readonly name: string;
  /** The account's id; null for a token. */
  readonly key: string | null;
}

/** A check that must pass, and who may report it beside those who always may. */
export interface RequiredContext {
  readonly context: string;
  readonly reporters: readonly Reporter[];
}

/** A rule as it is kept: its reporters are accounts, even if their names have other owners later. */
export interface KeptRule extends Omit<Rule, "contexts"> {
  readonly contexts: readonly RequiredContext[];
}

/** The combined demands of all rules that match a branch. */
export interface BranchRule extends Omit<Rule, "pattern" | "contexts"> {
  /** The matching patterns; empty if the branch is not protected. */
  readonly patterns: readonly string[];
  /** The required checks, each with the reporters of every rule that demands it. */
  readonly contexts: readonly {
    readonly context: string;
    readonly demands: readonly (readonly Reporter[])[];
  }[];
}

const PUSH = ["write", "admin", "nobody"] as const;
const MERGE = ["write", "admin"] as const;
const LANDING = ["optional", "required"] as const;

/** Combines the rules that match a branch: the strictest demand of each kind applies. */
export function ruleOf(rules: readonly KeptRule[], branch: string): BranchRule {
  const fitting = rules.filter(({ pattern }) => matchesGlob(pattern, branch));
  const contexts = Map.groupBy(fitting.flatMap((rule) => rule.contexts), ({ context }) => context);
  return {
    patterns: fitting.map(({ pattern }) => pattern),
    contexts: Array.from(contexts, ([context, same]) => ({
      context,
      demands: same.map(({ reporters }) => reporters),
    })),
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
export function pushRefusal(
  rule: Pick<BranchRule, "push" | "landing" | "approvals"> & {
    readonly contexts: readonly { readonly context: string }[];
  },
  isAdmin: boolean,
): string | null {
  if (rule.push === "nobody") return `nobody can push to it: ${LAND}`;
  if (isAdmin) return null;
  if (rule.push === "admin") return `only admins can push to it: ${LAND}`;
  if (rule.landing === "required") return `changes land only through its queue: ${LAND}`;
  const { any, people } = rule.approvals;
  if (any > 0 || people > 0) return `its changes need a review: ${INSTEAD}`;
  const [check] = rule.contexts;
  return check === undefined ? null : `its changes need the check '${check.context}': ${INSTEAD}`;
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
