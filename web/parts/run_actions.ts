import { cancelJob, rerunJob } from "../../services/work/runs/operations.ts";
import type { Action } from "../page.ts";

/** The forms of jobs, which pages about runs and reviews have. */
export const JOB_ACTIONS: Readonly<Record<"cancel-job" | "rerun-job", Action>> = {
  "cancel-job": async (visit) => {
    const { check } = await visit.invoke(visit.param("slug"), cancelJob, {
      job: visit.entered("job"),
    });
    return { to: visit.url.pathname + visit.url.search, notice: `${check} is cancelled.` };
  },
  "rerun-job": async (visit) => {
    await visit.invoke(visit.param("slug"), rerunJob, { job: visit.entered("job") });
    return { to: visit.url.pathname + visit.url.search, notice: "It runs again." };
  },
};
