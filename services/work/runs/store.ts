import type { Database, Statement } from "../../engines/database/mod.ts";
import { statement } from "../../engines/database/mod.ts";
import { type Job, jobOf, OPEN_STATES, type Run, runOf } from "./records.ts";

/** What a job that waits asks of a runner. */
export type Needed = Pick<Job, "projectId" | "kind" | "labels">;

/** Which runs to list. */
export interface RunFilter {
  readonly checkin?: string | undefined;
  readonly review?: number | undefined;
  readonly branch?: string | undefined;
  readonly isOpen?: boolean | undefined;
  /** Those with a check that counts and failed, or with a fault in their definition. */
  readonly isFailing?: boolean | undefined;
  /** Those with this check, by its context. */
  readonly check?: string | undefined;
}

/** Reads runs and jobs. */
export class RunStore {
  readonly #tables: Database["tables"];

  constructor(database: Pick<Database, "tables">) {
    this.#tables = database.tables;
  }

  /** A page of a project's runs, the newest first, and how many there are. */
  async list(
    projectId: string,
    { checkin, review, branch, isOpen, isFailing, check, limit, offset }: RunFilter & {
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<{ readonly runs: readonly Run[]; readonly total: number }> {
    const matching = this.#tables.selectFrom("check_runs").where("project_id", "=", projectId)
      .$if(checkin !== undefined, (query) => query.where("checkin", "=", checkin ?? ""))
      .$if(review !== undefined, (query) => query.where("review", "=", review ?? 0))
      .$if(branch !== undefined, (query) => query.where("branch", "=", branch ?? ""))
      .$if(isOpen === true, (query) => query.where("ended_at", "is", null))
      .$if(isOpen === false, (query) => query.where("ended_at", "is not", null))
      .$if(check !== undefined, (query) =>
        query.where(({ exists, selectFrom }) =>
          exists(
            selectFrom("check_jobs").select("check_jobs.id")
              .whereRef("check_jobs.run_id", "=", "check_runs.id")
              .where("check_jobs.context", "=", check ?? ""),
          )
        ))
      .$if(isFailing === true, (query) =>
        query.where(({ or, eb, exists, selectFrom }) =>
          or([
            eb("fault", "is not", null),
            exists(
              selectFrom("check_jobs as job").select("job.id")
                .whereRef("job.run_id", "=", "check_runs.id")
                .where("job.counts", "=", 1).where("job.state", "in", ["failure", "error"])
                .where((job) =>
                  job.not(job.exists(
                    job.selectFrom("check_jobs as later").select("later.id")
                      .whereRef("later.run_id", "=", "job.run_id")
                      .whereRef("later.context", "=", "job.context")
                      .whereRef("later.attempt", ">", "job.attempt"),
                  ))
                ),
            ),
          ])
        ));
    const { total } = await matching.select(({ fn }) => fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow();
    const rows = await matching.selectAll().orderBy("number", "desc").limit(limit).offset(offset)
      .execute();
    return { runs: rows.map(runOf), total: Number(total) };
  }

  async numbered(projectId: string, number: number): Promise<Run | null> {
    const row = await this.#tables.selectFrom("check_runs").selectAll()
      .where("project_id", "=", projectId).where("number", "=", number).executeTakeFirst();
    return row === undefined ? null : runOf(row);
  }

  async get(id: string): Promise<Run | null> {
    const row = await this.#tables.selectFrom("check_runs").selectAll().where("id", "=", id)
      .executeTakeFirst();
    return row === undefined ? null : runOf(row);
  }

  /** Whether a cause has begun a run already. */
  async hasBegun(projectId: string, causeKey: string): Promise<boolean> {
    const row = await this.#tables.selectFrom("check_runs").select("id")
      .where("project_id", "=", projectId).where("cause_key", "=", causeKey).executeTakeFirst();
    return row !== undefined;
  }

  /** The runs of a project that have not ended, the oldest first. */
  async open(projectId: string, subject?: string): Promise<readonly Run[]> {
    const rows = await this.#tables.selectFrom("check_runs").selectAll()
      .where("project_id", "=", projectId).where("ended_at", "is", null)
      .$if(subject !== undefined, (query) => query.where("subject", "=", subject ?? ""))
      .orderBy("id").execute();
    return rows.map(runOf);
  }

  /** The projects that have runs which have not ended, by their ids. */
  async openProjects(): Promise<readonly string[]> {
    const rows = await this.#tables.selectFrom("check_runs").select("project_id").distinct()
      .where("ended_at", "is", null).execute();
    return rows.map(({ project_id }) => project_id);
  }

  async job(id: string): Promise<Job | null> {
    const row = await this.#tables.selectFrom("check_jobs").selectAll().where("id", "=", id)
      .executeTakeFirst();
    return row === undefined ? null : jobOf(row);
  }

  /** All attempts of the jobs of a run, in the order of its definition. */
  async jobsOf(runIds: readonly string[]): Promise<readonly Job[]> {
    if (runIds.length === 0) return [];
    const rows = await this.#tables.selectFrom("check_jobs").selectAll()
      .where("run_id", "in", runIds).orderBy("id").execute();
    return rows.map(jobOf);
  }

  /** The newest job of each context on a check-in. */
  async jobsOn(projectId: string, checkin: string, context?: string): Promise<readonly Job[]> {
    const rows = await this.#tables.selectFrom("check_jobs").selectAll()
      .where("project_id", "=", projectId).where("checkin", "=", checkin)
      .$if(context !== undefined, (query) => query.where("context", "=", context ?? ""))
      .orderBy("id", "desc").limit(400).execute();
    return [...new Map(rows.toReversed().map((row) => [row.context, jobOf(row)])).values()];
  }

  /** What the jobs that wait for a runner ask of it, each once. */
  async needed(): Promise<readonly Needed[]> {
    const rows = await this.#tables.selectFrom("check_jobs").distinct()
      .select(["project_id", "kind", "labels"]).where("state", "=", "queued").execute();
    return rows.map(({ project_id: projectId, kind, labels }) => ({
      projectId,
      kind,
      labels: JSON.parse(labels),
    }));
  }

  /**
   * Jobs that wait for a runner: the oldest of each project and its labels, then the second of each,
   * and so on. Those whose group runs in another run are left out.
   */
  async queued(needed: readonly Needed[], limit: number): Promise<readonly Job[]> {
    if (needed.length === 0) return [];
    const every = <Value>(of: (one: Needed) => Value) => [...new Set(needed.map(of))];
    const placed = this.#tables.selectFrom("check_jobs as job")
      .select(({ fn }) => [
        "job.id",
        fn.agg<number>("row_number").over((over) =>
          over.partitionBy(["job.project_id", "job.labels"])
            .orderBy("job.queued_at").orderBy("job.id")
        ).as("place"),
      ])
      .where("job.state", "=", "queued")
      .where("job.kind", "in", every(({ kind }) => kind))
      .where("job.project_id", "in", every(({ projectId }) => projectId))
      .where("job.labels", "in", every(({ labels }) => JSON.stringify(labels)))
      .where(({ not, exists, selectFrom }) =>
        not(exists(
          selectFrom("check_jobs as other").select("other.id")
            .whereRef("other.project_id", "=", "job.project_id")
            .whereRef("other.group_name", "=", "job.group_name")
            .where("other.state", "=", "running").whereRef("other.run_id", "<>", "job.run_id"),
        ))
      );
    const rows = await this.#tables.selectFrom(placed.as("placed"))
      .innerJoin("check_jobs", "check_jobs.id", "placed.id").selectAll("check_jobs")
      .orderBy("placed.place").orderBy("check_jobs.queued_at").orderBy("check_jobs.id")
      .limit(limit).execute();
    return rows.map(jobOf);
  }

  /** Jobs that runners have, the oldest first. */
  async running(limit: number): Promise<readonly Job[]> {
    const rows = await this.#tables.selectFrom("check_jobs").selectAll()
      .where("state", "=", "running").orderBy("id").limit(limit).execute();
    return rows.map(jobOf);
  }

  /** How many jobs of a project have not ended. */
  async countOpen(projectId: string): Promise<number> {
    const { count } = await this.#tables.selectFrom("check_jobs")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("project_id", "=", projectId).where("state", "in", OPEN_STATES)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** The open jobs of a group of a project, the oldest first. */
  async openOfGroup(projectId: string, group: string): Promise<readonly Job[]> {
    const rows = await this.#tables.selectFrom("check_jobs").selectAll()
      .where("project_id", "=", projectId).where("group_name", "=", group)
      .where("state", "in", OPEN_STATES).orderBy("id").execute();
    return rows.map(jobOf);
  }

  /** Lets a runner have a job that waits, unless another job of its group runs. */
  leasing(
    { id, runId, projectId, group, generation, spec: { sharesGroup = false } }: Job,
    runner: { readonly id: string; readonly name: string },
    now: number,
  ): Statement {
    const update = this.#tables.updateTable("check_jobs").set({
      state: "running",
      generation: generation + 1,
      runner_id: runner.id,
      runner_name: runner.name,
      started_at: now,
    }).where("id", "=", id).where("state", "=", "queued").where("generation", "=", generation)
      .$if(group !== null, (query) =>
        query.where(({ not, exists, selectFrom }) =>
          not(exists(
            selectFrom("check_jobs as other").select("other.id")
              .where("other.project_id", "=", projectId).where("other.group_name", "=", group)
              .where("other.state", "=", "running")
              .$if(sharesGroup, (others) => others.where("other.run_id", "<>", runId)),
          ))
        ));
    return statement(update, { mustChange: true });
  }
}
