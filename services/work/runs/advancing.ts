/** Which jobs of a run begin once others have ended. */
import { hasEnded, type Job } from "./records.ts";

/** What becomes of jobs that wait. */
export interface Next {
  readonly start: readonly Job[];
  readonly skip: readonly {
    readonly job: Job;
    readonly why: string;
    /** Whether its check passes all the same: it was not due. */
    readonly passes?: boolean;
  }[];
  readonly cancel: readonly { readonly job: Job; readonly why: string }[];
  /** Those that cannot run. */
  readonly fail: readonly { readonly job: Job; readonly why: string }[];
}

/** Decides about the jobs of a run. @param jobs the newest attempt of each */
export type NextOf = (jobs: readonly Job[]) => Promise<Next>;

/** A job begins once all that it needs have passed; if one of them has not, it is skipped. */
export function nextByNeeds(jobs: readonly Job[]): Next {
  const byContext = new Map(jobs.map((job) => [job.context, job]));
  const start: Job[] = [];
  const skip: { job: Job; why: string }[] = [];
  for (const job of jobs) {
    if (job.state !== "waiting") continue;
    const needed = job.needs.map((need) => byContext.get(need));
    const failed = needed.find((one) =>
      one === undefined || (hasEnded(one) && one.state !== "success")
    );
    if (failed !== undefined) {
      skip.push({ job, why: `Skipped: the check ${failed.context} has not passed` });
    } else if (needed.every((one) => one?.state === "success")) start.push(job);
  }
  return { start, skip, cancel: [], fail: [] };
}
