import type { FailedCheck } from "../../../services/oversight/attention/mod.ts";
import { accessOf } from "../../../services/work/projects/mod.ts";
import type { Visit } from "../../visit.ts";
import type { FlakyCheck, ShownCheck } from "./side.tsx";

/** Flaky checks of this time are told, in milliseconds. */
const RECENTLY = 7 * 86_400_000;

/** Jobs from which those of the visitor's projects are picked. */
const MAX_READ = 500;

/** The checks of late that failed and passed without a change, in projects that the visitor may read. */
export async function flakyChecks(
  { services: { hosting, scheduler }, principal }: Visit,
): Promise<readonly FlakyCheck[]> {
  const { projects, runFigures } = hosting;
  const jobs = await runFigures.flaky(scheduler.now() - RECENTLY, MAX_READ);
  const checks = new Map<string, FlakyCheck>();
  for (const { id, projectId, check, endedAt } of jobs) {
    const held = projects.get(projectId);
    if (held === null || !accessOf(held, principal).may("read")) continue;
    const { slug } = held.project;
    const key = `${slug} ${check}`;
    const known = checks.get(key) ?? { slug, check, times: 0, job: id, endedAt };
    checks.set(key, { ...known, times: known.times + 1 });
  }
  return [...checks.values()];
}

/** Failed checks with the jobs of those that runners ran. */
export async function withJobs(
  { services: { hosting: { projects, runs } } }: Visit,
  checks: readonly FailedCheck[],
): Promise<readonly ShownCheck[]> {
  return await Promise.all(checks.map(async (check) => {
    const project = projects.find(check.slug)?.project;
    const [job] = project === undefined
      ? []
      : await runs.store.jobsOn(project.id, check.checkin, check.context);
    return { ...check, job: job?.id ?? null };
  }));
}
