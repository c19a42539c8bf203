/** What becomes of the jobs of workflows once others of them have ended. */
import type { JobProgress, Need, Next as NextByKey } from "../workflows/mod.ts";
import type { Next } from "./advancing.ts";
import type { Job, WorkflowSpec } from "./records.ts";

/** A job of a workflow. */
interface WorkflowJob extends Job {
  readonly spec: Job["spec"] & { readonly workflow: WorkflowSpec };
}

/**
 * Decides about the jobs of workflows.
 *
 * @param jobs the newest attempt of each of a run
 */
export async function nextOfWorkflows(jobs: readonly Job[]): Promise<Next> {
  const next = { start: [], skip: [], cancel: [], fail: [] } as {
    [Key in keyof Next]: Next[Key][number][];
  };
  const files = Map.groupBy(jobs.filter(isOfWorkflow), ({ spec }) => spec.workflow.file);
  for (const group of files.values()) {
    const byKey = new Map(group.map((job) => [job.context, job]));
    const found = await nextIn(group);
    const about = (key: string) => byKey.get(key) ?? [];
    next.start.push(...found.start.flatMap(about));
    for (const { key, blockedBy } of found.skip) {
      const why = blockedBy === null
        ? "Skipped: its condition does not hold"
        : `Skipped: the job ${blockedBy} has not passed`;
      next.skip.push(
        ...[about(key)].flat().map((job) => ({ job, why, passes: blockedBy === null })),
      );
    }
    const why = "Another job of its matrix has failed";
    const running = found.cancel.flatMap(about).filter(({ cancelReason }) => cancelReason === null);
    next.cancel.push(...running.map((job) => ({ job, why })));
    for (const { key, why } of found.refuse) {
      next.fail.push(...[about(key)].flat().map((job) => ({ job, why })));
    }
  }
  return next;
}

async function nextIn(group: readonly WorkflowJob[]): Promise<NextByKey> {
  const { nextOf } = await import("../workflows/mod.ts");
  const [{ spec: { workflow: { github, inputs } } }] = group as [WorkflowJob];
  return nextOf(group.map(progressOf), { github, inputs, vars: {} }, false);
}

/**
 * What the jobs that a job of a workflow needs have left to it, by their ids.
 *
 * @param jobs the newest attempt of each of its run
 */
export async function needsOfJob(
  { spec }: Job,
  jobs: readonly Job[],
): Promise<Readonly<Record<string, Need>>> {
  const { workflow } = spec;
  if (workflow === undefined) return {};
  const { needsOf } = await import("../workflows/mod.ts");
  const group = jobs.filter(isOfWorkflow).filter(({ spec }) =>
    spec.workflow.file === workflow.file
  );
  const byId = Map.groupBy(group.map(progressOf), ({ id }) => id);
  return needsOf(workflow.needs, byId) ?? {};
}

function isOfWorkflow(job: Job): job is WorkflowJob {
  return job.spec.workflow !== undefined;
}

function progressOf({ context, state, outputs, spec: { workflow } }: WorkflowJob): JobProgress {
  return {
    ...workflow,
    key: context,
    state: state === "queued" ? "ready" : state === "error" ? "failure" : state,
    outputs,
  };
}
