/** What becomes of the jobs of a run, whenever one of them is over. */
import { ExpressionFault, Expressions, namesStatus } from "./expressions.ts";
import type { RunContexts, WorkflowJob } from "./expansion.ts";

/** How a job ended. */
export type Result = "success" | "failure" | "cancelled" | "skipped";

/** A job of a run, and how far it is. */
export interface JobProgress extends
  Pick<
    WorkflowJob,
    "id" | "needs" | "condition" | "failsFast" | "maxParallel" | "refusal"
  > {
  /** Tells it from all others of the run. */
  readonly key: string;
  /** `waiting` for its needs, `ready` for a runner, `running`, or over. */
  readonly state: "waiting" | "ready" | "running" | Result;
  readonly outputs: Readonly<Record<string, string>>;
}

/** What is to be done with jobs, by their keys. */
export interface Next {
  /** Give them to runners. */
  readonly start: readonly string[];
  /** End them: their conditions do not hold. */
  readonly skip: readonly Skipped[];
  /** End them: another of their matrix has failed. */
  readonly cancel: readonly string[];
  /** End them as failed, for a reason. */
  readonly refuse: readonly { readonly key: string; readonly why: string }[];
}

/** A job that does not run. */
export interface Skipped {
  readonly key: string;
  /** The job that it needed, and which has failed or was cancelled; null if it just is not due. */
  readonly blockedBy: string | null;
}

/** How a job that is needed ended, as `needs.ID` shows it. */
export interface Need {
  readonly result: Result;
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * What follows from how far the jobs of a run are. It is asked again after what it says is done,
 * until it says nothing more.
 *
 * @param isCancelled whether somebody cancelled the run
 */
export function nextOf(
  jobs: readonly JobProgress[],
  contexts: RunContexts,
  isCancelled: boolean,
): Next {
  const byId = Map.groupBy(jobs, ({ id }) => id);
  const next: { -readonly [Key in keyof Next]: Next[Key][number][] } = {
    start: [],
    skip: [],
    cancel: [],
    refuse: [],
  };
  for (const group of byId.values()) {
    if (group.some(({ state, failsFast }) => state === "failure" && failsFast)) {
      next.cancel.push(...group.filter((job) => !isOver(job)).map(({ key }) => key));
      continue;
    }
    const waiting = group.filter(({ state }) => state === "waiting");
    const [first] = waiting;
    if (first === undefined) continue;
    const needs = needsOf(first.needs, byId);
    if (needs === null) continue;
    const busy = group.filter(({ state }) => state === "ready" || state === "running").length;
    let places = (first.maxParallel ?? Infinity) - busy;
    for (const job of waiting) {
      const verdict = verdictOn(job, needs, contexts, isCancelled);
      if (verdict === "skip") next.skip.push({ key: job.key, blockedBy: blockerOf(needs) });
      else if (typeof verdict === "object") next.refuse.push({ key: job.key, ...verdict });
      else if (places-- > 0) next.start.push(job.key);
    }
  }
  return next;
}

/**
 * What the jobs that a job needs left to it.
 *
 * @returns null while one of them is not over
 */
export function needsOf(
  ids: readonly string[],
  byId: ReadonlyMap<string, readonly JobProgress[]>,
): Readonly<Record<string, Need>> | null {
  const needs: Record<string, Need> = {};
  for (const id of ids) {
    const group = byId.get(id) ?? [];
    if (!group.every(isOver)) return null;
    const outputs = Object.assign({}, ...group.map((job) => job.outputs));
    needs[id] = { result: resultOf(group), outputs };
  }
  return needs;
}

function isOver({ state }: JobProgress): boolean {
  return state !== "waiting" && state !== "ready" && state !== "running";
}

/** How all jobs of one matrix ended together. */
function resultOf(group: readonly JobProgress[]): Result {
  const results = new Set(group.map(({ state }) => state));
  for (const result of ["failure", "cancelled", "success"] as const) {
    if (results.has(result)) return result;
  }
  return "skipped";
}

function blockerOf(needs: Readonly<Record<string, Need>>): string | null {
  const found = Object.entries(needs).find(([, { result }]) =>
    result === "failure" || result === "cancelled"
  );
  return found?.[0] ?? null;
}

function verdictOn(
  { condition, refusal }: JobProgress,
  needs: Readonly<Record<string, Need>>,
  { github, inputs, vars }: RunContexts,
  isCancelled: boolean,
): "start" | "skip" | { why: string } {
  const results = Object.values(needs).map(({ result }) => result);
  const success = () => !isCancelled && results.every((result) => result === "success");
  const status = {
    success,
    failure: () => results.includes("failure"),
    cancelled: () => isCancelled,
    always: () => true,
  };
  try {
    const isDue = condition === null ? success() : (namesStatus(condition) || success()) &&
      new Expressions(
        {
          github,
          forgejo: github,
          gitea: github,
          inputs,
          vars,
          needs: Object.fromEntries(
            Object.entries(needs).map(([id, { result, outputs }]) => [id, { result, outputs }]),
          ),
        },
        status,
      ).holds(condition);
    if (!isDue) return "skip";
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    return { why: `if: ${error.message}` };
  }
  return refusal === null ? "start" : { why: refusal };
}
