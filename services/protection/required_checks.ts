/**
 * Whose reports of a required check count. Anybody may report, so a report counts only from those whom
 * the project trusts for it, and never from those whose work is under test.
 */
import type { NewestReport } from "../checks/mod.ts";
import { foldCase } from "../irc/mod.ts";
import type { Actor } from "../projects/mod.ts";
import type { BranchRule, Reporter } from "./rules.ts";
import type { RequiredCheck } from "./schemas.ts";

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
  /** Newest first. */
  readonly reports: readonly NewestReport[];
  /** The users of the check-ins under test. */
  readonly users: readonly string[];
  readonly subjects: readonly Subject[];
}

/** How a required check stands. */
export function standingOf(
  { context, demands }: BranchRule["contexts"][number],
  { reports, users, subjects }: Facts,
): RequiredCheck {
  const names = new Set([...users, ...subjects.map(({ name }) => name)].map(foldCase));
  const keys = new Set(subjects.map(({ key }) => key));
  const counts = ({ reporter }: NewestReport) =>
    !keys.has(reporter.key) && !names.has(foldCase(reporter.name)) &&
    demands.every((reporters) => isTrusted(reporter, reporters));
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

/** Project tokens report by right: only with the scope `status:write` can they report at all. */
function isTrusted({ kind, key }: Actor, reporters: readonly Reporter[]): boolean {
  if (kind === "project") return true;
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
  return ["a project token with status:write", ...reporters].join(" or ");
}

/** Why a required check has not passed, as a clause. */
export function reasonOf({ state, reporter, uncounted, reporters }: RequiredCheck): string {
  if (reporter !== null) return `${reporter} reported ${state}`;
  const awaited = awaitedReporters(reporters);
  if (uncounted.length === 0) return `it waits for ${awaited}`;
  return `what ${uncounted.join(" and ")} reported does not count, it waits for ${awaited}`;
}
