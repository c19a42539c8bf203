import { getJobLog, listRuns } from "../../services/work/runs/operations.ts";
import type { JobView } from "../../services/work/runs/schemas.ts";
import { plainOf } from "../elements/log_lines.ts";
import type { Visit } from "../visit.ts";

/** Runs on one check-in that are looked at. */
const MAX_RUNS = 20;

/** Lines of the log of a failed job, and of how many jobs. */
const LAST_LINES = 20;
const MAX_LOGS = 5;

/** A job, with the end of its log if it failed. */
export interface CheckJob extends JobView {
  readonly lastLines: readonly string[];
}

/** The newest job of each check on a check-in, by its context. */
export async function readJobs(
  visit: Visit,
  slug: string,
  checkin: string,
): Promise<ReadonlyMap<string, JobView>> {
  const { runs } = await visit.invoke(slug, listRuns, { checkin, per_page: MAX_RUNS });
  // The oldest first, so that the newest stays.
  return new Map(runs.toReversed().flatMap(({ jobs }) => jobs).map((job) => [job.check, job]));
}

/** The same, with the ends of the logs of those that failed. */
export async function readJobsWithLogs(
  visit: Visit,
  slug: string,
  checkin: string,
): Promise<ReadonlyMap<string, CheckJob>> {
  const jobs = await readJobs(visit, slug, checkin);
  const failed = [...jobs.values()].filter(({ state }) => state === "failure").slice(0, MAX_LOGS);
  const ends = new Map(
    await Promise.all(failed.map(async ({ id }) => {
      const { lines } = await visit.invoke(slug, getJobLog, { job: id, tail: LAST_LINES });
      return [id, lines.map(({ text }) => plainOf(text).slice(0, 300))] as const;
    })),
  );
  return new Map(
    [...jobs].map(([check, job]) => [check, { ...job, lastLines: ends.get(job.id) ?? [] }]),
  );
}
