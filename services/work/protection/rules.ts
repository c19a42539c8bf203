/** The rules of one branch, combined, and whether its required checks have passed. */
import type { NewestReport } from "../checks/mod.ts";
import { matchesGlob } from "../../engines/fossil/front/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { Actor } from "../projects/mod.ts";
import type { RequiredCheck, Rule } from "./schemas.ts";

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

/** The key under which runners report the checks that a branch defines. */
export function runnersOf(branch: string): string {
  return `runner:${branch}`;
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

/** Somebody whose work is under test: the owner of a workspace, or who asked for a landing. */
export type Subject = Pick<Actor, "key" | "name">;

/** A check-in under test. */
export interface Tested {
  /** Its whole id. */
  readonly checkin: string;
  /** The check-in that the change is compared with, a whole id; null for none. */
  readonly base: string | null;
  /** Whose work it is, beside those who made the check-ins between the two. */
  readonly subjects: readonly Subject[];
}

/** What is known of the check-in. */
interface Facts {
  /** Whose rule it is. */
  readonly branch: string;
  /** Newest first. */
  readonly reports: readonly NewestReport[];
  /** The users of the check-ins under test. */
  readonly users: readonly string[];
  readonly subjects: readonly Subject[];
}

/**
 * How a required check stands. Anybody may report, so a report counts only from those whom the project
 * trusts for it, and never from those whose work is under test.
 */
export function standingOf(
  { context, demands }: BranchRule["contexts"][number],
  { branch, reports, users, subjects }: Facts,
): RequiredCheck {
  const names = new Set([...users, ...subjects.map(({ name }) => name)].map(foldCase));
  const keys = new Set(subjects.map(({ key }) => key));
  const counts = ({ reporter }: NewestReport) =>
    !keys.has(reporter.key) && !names.has(foldCase(reporter.name)) &&
    demands.every((reporters) => isTrusted(reporter, branch, reporters));
  const its = reports.filter((report) => report.context === context);
  const counting = its.findIndex(counts);
  const newest = its[counting];
  const uncounted = counting < 0 ? its : its.slice(0, counting);
  return {
    context,
    state: newest?.state ?? "pending",
    reporter: newest?.reporter.name ?? null,
    uncounted: uncounted.map(({ reporter }) => reporter.name),
    reporters: demands.reduce((common, reporters) =>
      common.filter((one) => reporters.some((other) => isSame(one, other)))
    ).map(({ name }) => name),
  };
}

/**
 * Project tokens report by right: only with the scope `status:write` can they report at all. So do
 * runners, for the jobs that this server gave them, as far as the branch itself has defined these:
 * on another branch, its writers define what passes.
 */
function isTrusted(
  { kind, key }: Actor,
  branch: string,
  reporters: readonly Reporter[],
): boolean {
  if (kind === "project") return true;
  if (kind === "runner") return key === runnersOf(branch);
  return reporters.some((reporter) => reporter.key === key);
}

function isSame(one: Reporter, other: Reporter): boolean {
  return one.key === other.key && one.name === other.name;
}

/** Why required checks refuse a change; null if all of them have passed. */
export function objectionTo(checks: readonly RequiredCheck[]): string | null {
  const missing = checks.filter(({ state }) => state !== "success");
  const [first] = missing;
  if (first === undefined) return null;
  if (missing.length > 1) {
    const all = missing.map((check) => `'${check.context}' (${reasonOf(check)})`);
    return `Required status checks have not passed: ${all.join(", ")}`;
  }
  return `Required status check '${first.context}' has not passed: ${reasonOf(first)}`;
}

/** Whose report a required check waits for, as words in a sentence. */
export function awaitedReporters(reporters: readonly string[]): string {
  return ["a runner", "a project token with status:write", ...reporters].join(" or ");
}

/** Why a required check has not passed, as a clause. */
export function reasonOf({ state, reporter, uncounted, reporters }: RequiredCheck): string {
  if (reporter !== null) return `${reporter} reported ${state}`;
  const awaited = awaitedReporters(reporters);
  if (uncounted.length === 0) return `it waits for ${awaited}`;
  return `what ${uncounted.join(" and ")} reported does not count, it waits for ${awaited}`;
}
