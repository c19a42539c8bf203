import { type RawBuilder, sql } from "kysely";
import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Project, ProjectRepositories, Projects } from "../../work/projects/mod.ts";
import { type Scheduler, untilMultiple } from "../../kernel/scheduler.ts";

/** How often old rows are looked for, in milliseconds. */
const INTERVAL = 60 * 60 * 1000;
const DAY = 24 * 60 * 60 * 1000;

/** Rows that one transaction looks at, so that no other waits long. */
const STEP = 500;

/** How many days each kind is kept; 0 keeps it forever. */
export interface RetentionDays {
  readonly check_history_days: number;
  readonly check_days: number;
  readonly claim_days: number;
  readonly landing_days: number;
  readonly check_run_days: number;
  readonly review_days: number;
  readonly workspace_days: number;
  readonly delivery_days: number;
  readonly removed_project_days: number;
}

/** The kinds of rows and files with a retention. */
export const RETAINED = [
  "check_history",
  "checks",
  "claims",
  "landings",
  "check_runs",
  "reviews",
  "workspaces",
  "webhook_deliveries",
  "projects",
] as const;

/** A kind with a retention, by the name of its table. */
export type Retained = (typeof RETAINED)[number];

/** The key in the section `retention` of each kind. */
export const DAYS_OF: Readonly<Record<Retained, keyof RetentionDays>> = {
  check_history: "check_history_days",
  checks: "check_days",
  claims: "claim_days",
  landings: "landing_days",
  check_runs: "check_run_days",
  reviews: "review_days",
  workspaces: "workspace_days",
  webhook_deliveries: "delivery_days",
  projects: "removed_project_days",
};

/** Counts the rows of each kind, of projects those that are removed. */
export async function countRetained(
  tables: Database["tables"],
): Promise<ReadonlyMap<Retained, number>> {
  const counts = new Map<Retained, number>();
  for (const kind of RETAINED) {
    const { rows } = await tables.selectFrom(kind)
      .where(sql<boolean>`${kind === "projects" ? sql`removed_at IS NOT NULL` : ANY}`)
      .select(({ fn }) => fn.countAll<number | string>().as("rows")).executeTakeFirstOrThrow();
    counts.set(kind, Number(rows));
  }
  return counts;
}

/** Rows of one table that end at a time, and are removed some time later. */
interface Ended {
  readonly table: Exclude<Retained, "checks" | "projects">;
  /** The column of their end, in Unix milliseconds; it has an index. */
  readonly end: string;
  /** Which of them have ended; what the index is for. */
  readonly hasEnded: RawBuilder<unknown>;
  /** Which of those nothing refers to that is open. */
  readonly isFree: RawBuilder<unknown>;
}

const ANY = sql`1 = 1`;

/** In this order: a review lets go of its workspace, and a landing is removed before its review. */
const ENDED: readonly Ended[] = [
  {
    table: "check_history",
    end: "reported_at",
    hasEnded: ANY,
    isFree: ANY,
  },
  {
    table: "webhook_deliveries",
    end: "finished_at",
    hasEnded: sql`finished_at IS NOT NULL`,
    isFree: sql`status <> 'pending'`,
  },
  {
    // The newest claim of a ticket stays: the next generation is counted from it.
    table: "claims",
    end: "ended_at",
    hasEnded: sql`ended_at IS NOT NULL`,
    isFree: sql`generation < (SELECT lease.generation FROM ticket_leases AS lease
        WHERE lease.project_id = claims.project_id AND lease.ticket = claims.ticket)
      AND NOT EXISTS (SELECT 1 FROM workspaces WHERE workspaces.project_id = claims.project_id
        AND workspaces.ticket = claims.ticket AND workspaces.generation = claims.generation
        AND workspaces.status = 'active')`,
  },
  {
    // A review that is open shows its last landing.
    table: "landings",
    end: "ended_at",
    hasEnded: sql`ended_at IS NOT NULL`,
    isFree: sql`NOT EXISTS (SELECT 1 FROM reviews WHERE reviews.id = landings.review_id
        AND reviews.status NOT IN ('merged', 'closed'))
      OR EXISTS (SELECT 1 FROM landings AS later WHERE later.review_id = landings.review_id
        AND later.project_id = landings.project_id
        AND later.target_branch = landings.target_branch AND later.id > landings.id)`,
  },
  {
    // Its jobs go with it, and then their files. The newest run of a project stays, as reviews do.
    table: "check_runs",
    end: "ended_at",
    hasEnded: sql`ended_at IS NOT NULL`,
    isFree: sql`number < (SELECT max(newest.number) FROM check_runs AS newest
        WHERE newest.project_id = check_runs.project_id)`,
  },
  {
    // The newest review of a project stays: the next number is counted from it.
    table: "reviews",
    end: "updated_at",
    hasEnded: sql`status IN ('merged', 'closed')`,
    isFree: sql`number < (SELECT max(newest.number) FROM reviews AS newest
        WHERE newest.project_id = reviews.project_id)
      AND NOT EXISTS (SELECT 1 FROM workspaces WHERE workspaces.id = reviews.workspace_id
        AND workspaces.status = 'active')
      AND NOT EXISTS (SELECT 1 FROM landings WHERE landings.review_id = reviews.id
        AND landings.ended_at IS NULL)`,
  },
  {
    table: "workspaces",
    end: "updated_at",
    hasEnded: sql`status <> 'active'`,
    isFree: sql`NOT EXISTS (SELECT 1 FROM reviews WHERE reviews.workspace_id = workspaces.id)`,
  },
];

/** The tables with many rows of a project, with their keys, in an order that obeys their references. */
const OF_PROJECT: readonly (readonly [table: string, ...key: string[]])[] = [
  ["check_history", "id"],
  ["newest_reports", "project_id", "checkin", "context", "reporter_key"],
  ["checks", "project_id", "checkin", "context"],
  ["landings", "id"],
  ["check_jobs", "id"],
  ["check_runs", "id"],
  ["reviews", "id"],
  ["workspaces", "id"],
  ["claims", "id"],
  ["ticket_leases", "project_id", "ticket"],
  ["release_assets", "project_id", "tag_name", "name"],
];

export interface DataRetentionOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "get">;
  readonly repositories: Pick<ProjectRepositories, "read" | "homes" | "files">;
  /** Whether this program does what one of several does for all. */
  readonly isLeading: () => boolean;
  readonly days: RetentionDays;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Removes what ended long ago, and to which nothing refers that is open: rows of the database in
 * slices, and the files of removed projects. The numbers of claims, reviews and checks are not used
 * again.
 */
export class DataRetention {
  readonly #options: DataRetentionOptions;
  readonly #removed = new Map<Retained, number>(RETAINED.map((kind) => [kind, 0]));
  #cancel: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: DataRetentionOptions) {
    this.#options = options;
  }

  /** How many rows of each kind were removed since the start; of projects, those without a trace. */
  get removed(): ReadonlyMap<Retained, number> {
    return this.#removed;
  }

  /** How many days each kind is kept; 0 keeps it forever. */
  get days(): ReadonlyMap<Retained, number> {
    const { days } = this.#options;
    return new Map(RETAINED.map((kind) => [kind, days[DAYS_OF[kind]]]));
  }

  /** Starts to look each hour. */
  start(): void {
    this.#isStopped = false;
    this.#schedule();
  }

  /** Stops after the running step. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
  }

  /** Removes all that is due. What fails is logged, and tried again in an hour. */
  async run(): Promise<void> {
    const { days, isLeading, log } = this.#options;
    const steps: (readonly [what: string, step: () => Promise<void>])[] = [
      ["checks", () => this.#checks(this.#before(days.check_days))],
      ["files of removed projects", () => this.#files(this.#before(days.removed_project_days))],
    ];
    if (isLeading()) {
      for (const ended of ENDED) steps.push([ended.table, () => this.#ended(ended)]);
      steps.push([
        "removed projects",
        () => this.#projects(this.#before(days.removed_project_days)),
      ]);
    }
    for (const [what, step] of steps) {
      try {
        await step();
      } catch (error) {
        log.warn("Old data could not be removed", { what, error });
      }
    }
  }

  #schedule(): void {
    if (this.#isStopped) return;
    const { scheduler } = this.#options;
    this.#cancel = scheduler.after(untilMultiple(INTERVAL, scheduler.now()), () => {
      this.#running = this.run().finally(() => this.#schedule());
    });
  }

  /** The time before which what ended is removed, in Unix milliseconds; 0 if all of it is kept. */
  #before(days: number): number {
    return days === 0 ? 0 : this.#options.scheduler.now() - days * DAY;
  }

  async #ended({ table, end, hasEnded, isFree }: Ended): Promise<void> {
    const { tables } = this.#options.database;
    const before = this.#before(this.#options.days[DAYS_OF[table]]);
    const [from, at] = [sql.table(table), sql.ref(end)];
    for (let after = -1; after < before && !this.#isStopped;) {
      const due = sql`${hasEnded} AND ${at} > ${after} AND ${at} < ${before}`;
      const last = await tables.selectFrom(table).select(sql<number>`${at}`.as("at"))
        .where(sql<boolean>`${due}`).orderBy(at).offset(STEP - 1).limit(1).executeTakeFirst();
      const upTo = last?.at ?? before;
      await this.#remove(
        table,
        sql`DELETE FROM ${from} WHERE ${due} AND ${at} <= ${upTo} AND (${isFree})`,
      );
      after = upTo;
    }
  }

  /** Removes checks whose last report is old, with what each reporter said last of them. */
  async #checks(before: number): Promise<void> {
    const { database: { tables }, projects, repositories: { homes } } = this.#options;
    const open = new Map<string, ReadonlySet<string> | null>();
    for (let from = 0; from < before && !this.#isStopped;) {
      const rows = await tables.selectFrom("checks").select(["project_id", "checkin", "updated_at"])
        .where("updated_at", ">=", from).where("updated_at", "<", before)
        .orderBy("updated_at").limit(STEP).execute();
      const statements: Statement[] = [];
      for (const [id, ofProject] of Map.groupBy(rows, ({ project_id }) => project_id)) {
        const held = projects.get(id);
        if (held === null || !homes.isHere({ id })) continue;
        if (!open.has(id)) open.set(id, await this.#openIn(held.project));
        const kept = open.get(id);
        if (kept === null || kept === undefined) continue;
        for (const checkin of new Set(ofProject.map((row) => row.checkin))) {
          if (!kept.has(checkin)) statements.push(...this.#endOfChecks({ id, checkin, before }));
        }
      }
      if (statements.length > 0) await this.#options.database.commit({ statements });
      const last = rows.at(-1)?.updated_at;
      if (last === undefined || rows.length < STEP) return;
      from = Math.max(last, from + 1);
    }
  }

  /** The check-ins of a project whose checks somebody may still ask for; null if it cannot be read. */
  async #openIn(project: Project): Promise<ReadonlySet<string> | null> {
    try {
      return await openCheckins(this.#options, project);
    } catch (error) {
      const { slug } = project;
      this.#options.log.warn("Old checks of a project could not be removed", { slug, error });
      return null;
    }
  }

  /** The check with the greatest number of a project stays: the next number is counted from it. */
  #endOfChecks(
    { id, checkin, before }: {
      readonly id: string;
      readonly checkin: string;
      readonly before: number;
    },
  ): Statement[] {
    const of = sql`project_id = ${id} AND checkin = ${checkin}`;
    return [
      this.#removal(
        "checks",
        sql`DELETE FROM checks WHERE ${of} AND updated_at < ${before} AND number <
          (SELECT max(newest.number) FROM checks AS newest WHERE newest.project_id = ${id})`,
      ),
      this.#removal(
        null,
        sql`DELETE FROM newest_reports WHERE ${of} AND NOT EXISTS (
          SELECT 1 FROM checks WHERE checks.project_id = newest_reports.project_id
            AND checks.checkin = newest_reports.checkin
            AND checks.context = newest_reports.context)`,
      ),
    ];
  }

  /** Removes the rows of projects that were removed long ago, those of large tables in slices. */
  async #projects(before: number): Promise<void> {
    const { tables } = this.#options.database;
    const due = await tables.selectFrom("projects").select("id")
      .where("removed_at", "<", before).limit(STEP).execute();
    for (const { id } of due) {
      for (const [table, ...keys] of OF_PROJECT) {
        const key = sql.join(keys.map((name) => sql.ref(name)));
        const from = sql.table(table);
        for (let left = true; left && !this.#isStopped;) {
          let changed = 0;
          const slice = sql`DELETE FROM ${from} WHERE (${key}) IN (
            SELECT ${key} FROM ${from} WHERE project_id = ${id} LIMIT ${STEP})`;
          const removal = statement({ compile: () => slice.compile(tables) }, {
            committed: (changes) => changed = changes,
          });
          await this.#options.database.commit({ statements: [removal] });
          left = changed >= STEP;
        }
      }
      if (this.#isStopped) return;
      await this.#remove(
        "projects",
        sql`DELETE FROM projects WHERE id = ${id}
        AND removed_at IS NOT NULL`,
      );
    }
  }

  async #files(before: number): Promise<void> {
    if (before > 0) await this.#options.repositories.files.removeAside("removed", before);
  }

  async #remove(kind: Retained, query: RawBuilder<unknown>): Promise<void> {
    await this.#options.database.commit({ statements: [this.#removal(kind, query)] });
  }

  #removal(kind: Retained | null, query: RawBuilder<unknown>): Statement {
    const { tables } = this.#options.database;
    return statement({ compile: () => query.compile(tables) }, {
      committed: (changes) => {
        if (kind !== null) this.#removed.set(kind, (this.#removed.get(kind) ?? 0) + changes);
      },
    });
  }
}

/**
 * The check-ins of a project that something open refers to: tips of open branches, rounds of open
 * reviews, landings in the queue, active workspaces and releases.
 *
 * @throws ServiceError if the repository cannot be read
 */
async function openCheckins(
  { database: { tables }, repositories }: Pick<DataRetentionOptions, "database" | "repositories">,
  project: Project,
): Promise<ReadonlySet<string>> {
  const { id } = project;
  const branches = await repositories.read(project, (repository) => repository.branches());
  const rounds = await tables.selectFrom("review_rounds")
    .innerJoin("reviews", "reviews.id", "review_rounds.review_id")
    .select(["base", "tip"]).where("reviews.project_id", "=", id)
    .where("reviews.status", "in", ["pending", "approved", "changes_requested"]).execute();
  const landings = await tables.selectFrom("landings").select(["tip", "base", "candidate"])
    .where("project_id", "=", id).where("ended_at", "is", null).execute();
  const workspaces = await tables.selectFrom("workspaces").select(["started_as", "base", "tip"])
    .where("project_id", "=", id).where("status", "=", "active").execute();
  const releases = await tables.selectFrom("releases").select("checkin")
    .where("project_id", "=", id).execute();
  const named = [...rounds, ...landings, ...workspaces, ...releases];
  return new Set([
    ...branches.filter(({ status }) => status === "open").map(({ last_uuid }) => last_uuid),
    ...named.flatMap((row) => Object.values(row)).filter((uuid) => uuid !== null),
  ]);
}
