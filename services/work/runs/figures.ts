import type { Database } from "../../engines/database/mod.ts";
import type { Project } from "../projects/mod.ts";
import { jobOf } from "./records.ts";

/** How far figures go back, in milliseconds. */
const PERIOD = 30 * 24 * 60 * 60 * 1000;

/** Most jobs that figures are made of. */
const MAX_JOBS = 5000;

/** How many of the last durations are shown. */
const LAST = 10;

/** How one check fares. */
interface CheckFigures {
  readonly check: string;
  readonly jobs: number;
  readonly success_rate: number | null;
  readonly seconds_median: number | null;
  readonly seconds_p95: number | null;
  readonly queue_seconds_median: number | null;
  readonly flaky: number;
  readonly last_state: ReturnType<typeof jobOf>["state"];
  readonly last_ended_at: string;
}

/** A job that passed after an attempt of the same on the same check-in had failed. */
export interface FlakyJob {
  readonly id: string;
  readonly projectId: string;
  readonly check: string;
  /** Unix milliseconds. */
  readonly endedAt: number;
}

/** What the jobs of the last days tell of each check. */
export class RunFigures {
  readonly #tables: Database["tables"];
  readonly #clock: () => number;

  /** @param clock Unix milliseconds */
  constructor(database: Pick<Database, "tables">, clock: () => number) {
    this.#tables = database.tables;
    this.#clock = clock;
  }

  /** The figures of each check of a project that counts, by name. */
  async of(project: Pick<Project, "id">): Promise<CheckFigures[]> {
    const rows = await this.#tables.selectFrom("check_jobs")
      .select(["context", "checkin", "state", "queued_at", "started_at", "ended_at"])
      .where("project_id", "=", project.id).where("counts", "=", 1)
      .where("ended_at", ">=", this.#clock() - PERIOD)
      .orderBy("id", "desc").limit(MAX_JOBS).execute();
    const byCheck = [...Map.groupBy(rows, ({ context }) => context)].sort(([one], [other]) =>
      one < other ? -1 : 1
    );
    return byCheck.map(([check, jobs]) => {
      const judged = jobs.filter(({ state }) => state === "success" || state === "failure");
      const passed = judged.filter(({ state }) => state === "success");
      const seconds = judged.flatMap(({ started_at, ended_at }) =>
        started_at === null || ended_at === null ? [] : (ended_at - started_at) / 1000
      );
      const queued = jobs.flatMap(({ queued_at, started_at }) =>
        queued_at === null || started_at === null ? [] : (started_at - queued_at) / 1000
      );
      const checkins = Map.groupBy(judged, ({ checkin }) => checkin).values();
      const [newest] = jobs;
      return {
        check,
        jobs: judged.length,
        success_rate: judged.length === 0 ? null : passed.length / judged.length,
        seconds_median: quantile(seconds, 0.5),
        seconds_p95: quantile(seconds, 0.95),
        queue_seconds_median: quantile(queued, 0.5),
        flaky: checkins.filter((same) => new Set(same.map(({ state }) => state)).size > 1)
          .toArray().length,
        last_state: newest?.state ?? "error",
        last_ended_at: new Date(newest?.ended_at ?? 0).toISOString(),
      };
    });
  }

  /** Jobs of all projects that failed and passed without a change, the newest first. */
  async flaky(since: number, limit: number): Promise<readonly FlakyJob[]> {
    const rows = await this.#tables.selectFrom("check_jobs as job")
      .select(["job.id", "job.project_id", "job.context", "job.ended_at"])
      .where("job.ended_at", ">=", since)
      .where(({ eb, lit }) => eb("job.attempt", ">", lit(1)))
      .where("job.state", "=", "success").where("job.counts", "=", 1)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom("check_jobs as before").select("before.id")
            .whereRef("before.run_id", "=", "job.run_id")
            .whereRef("before.context", "=", "job.context")
            .where("before.state", "=", "failure"),
        )
      )
      .orderBy("job.ended_at", "desc").limit(limit).execute();
    return rows.map(({ id, project_id: projectId, context: check, ended_at }) => ({
      id,
      projectId,
      check,
      endedAt: ended_at ?? 0,
    }));
  }

  /** How long the last jobs of a check ran that passed, in seconds, the newest first. */
  async lastSeconds(project: Pick<Project, "id">, context: string): Promise<number[]> {
    const rows = await this.#tables.selectFrom("check_jobs").select(["started_at", "ended_at"])
      .where("project_id", "=", project.id).where("context", "=", context)
      .where("state", "=", "success").where("ended_at", "is not", null)
      .orderBy("id", "desc").limit(LAST).execute();
    return rows.map(({ started_at, ended_at }) => ((ended_at ?? 0) - (started_at ?? 0)) / 1000);
  }
}

/** @returns null of no values */
function quantile(values: readonly number[], part: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
}
