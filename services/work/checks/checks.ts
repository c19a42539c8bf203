import type { Selectable } from "kysely";
import { monotonicFactory } from "ulid";
import {
  type Change,
  type Database,
  Duplicate,
  type Statement,
  statement,
  type Tables,
  Unchanged,
} from "../../engines/database/mod.ts";
import type { Origin } from "../../engines/events/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { type Caller, type HourlyQuota, originOf } from "../../people/identity/mod.ts";
import {
  type Actor,
  type Project,
  projectEvent,
  type ProjectRepositories,
} from "../projects/mod.ts";
import type { CheckState, PastReport, Report } from "./schemas.ts";

/** The newest report of a check. */
export interface Check {
  /** From 1 in each project. */
  readonly number: number;
  /** The check-in's whole id. */
  readonly checkin: string;
  readonly context: string;
  readonly state: CheckState;
  readonly description: string;
  readonly targetUrl: string;
  readonly reporter: string;
  /** Unix milliseconds, as all times here. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What one reporter said last of a check. */
export interface NewestReport {
  readonly context: string;
  readonly state: CheckState;
  readonly reporter: Actor;
}

export interface ChecksOptions {
  readonly database: Database;
  readonly repositories: Pick<ProjectRepositories, "read">;
  /** Bounds the reports of each caller. */
  readonly quota: Pick<HourlyQuota, "take">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Most contexts of one check-in. */
const MAX_CONTEXTS = 400;
/** Most contexts of one reporter on a check-in: the others can always report theirs. */
const MAX_CONTEXTS_OF_ONE = 200;

/** A whole id of a check-in, or a prefix. */
const ID = /^[0-9a-f]{4,64}$/;
/** The whole hash of a commit of Git. */
const COMMIT = /^[0-9a-f]{40}$/;

/** Attempts at a report if the check is created, or removed with its project, meanwhile. */
const TRIES = 3;

/** Reports of CI on check-ins. */
export class Checks {
  readonly #database: Database;
  readonly #repositories: ChecksOptions["repositories"];
  readonly #quota: ChecksOptions["quota"];
  readonly #clock: () => number;
  /** Ids of the history: monotonic, also within a millisecond. */
  readonly #nextId = monotonicFactory();

  constructor(options: ChecksOptions) {
    this.#database = options.database;
    this.#repositories = options.repositories;
    this.#quota = options.quota;
    this.#clock = options.clock;
  }

  /**
   * Stores a report. It replaces the check-in's earlier one of the same context.
   *
   * @returns the check, and whether this is its first report
   * @throws NotFound if there is no such check-in; Invalid if the prefix fits several
   * @throws TooMany if the caller has reported as often as it may within an hour
   */
  async report(
    project: Project,
    report: Report,
    { caller, actor }: { readonly caller: Caller; readonly actor: Actor },
  ): Promise<{ readonly check: Check; readonly isNew: boolean }> {
    const counted = this.#quota.take(caller.principal);
    try {
      return await this.#store(project, report, { caller, actor });
    } catch (error) {
      counted[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * What stores a report of this server itself, to be committed with what it is about. The commit
   * throws Duplicate or Unchanged if somebody else reports the context meanwhile: ask for it again.
   *
   * @param report its check-in is a whole id
   */
  async reporting(
    project: Project,
    report: Report,
    by: {
      readonly actor: Actor;
      readonly origin: Origin;
      readonly unread?: "cancelled" | "skipped" | undefined;
      /** What was tested, and the job whose result it is. */
      readonly about?: { readonly review?: number | null; readonly job?: string };
    },
  ): Promise<Required<Change>> {
    const known = await this.find(project, report.checkin, report.context);
    return this.#reporting(project, report, known, by);
  }

  #reporting(
    project: Project,
    report: Report,
    known: Check | null,
    { actor, origin, unread, about = {} }: Parameters<Checks["reporting"]>[2],
  ): Required<Change> {
    const { checkin, context, state, description, target_url } = report;
    const now = this.#clock();
    const row = rowOf({ project, checkin, report, actor });
    const id = this.#nextId(now);
    const event = {
      checkin,
      context,
      state,
      previous_state: known?.state ?? null,
      description,
      target_url,
      reporter: actor.name,
      ...unread === undefined ? {} : { unread },
      ...about,
    };
    return {
      statements: [
        known === null ? this.#insertion(row, now) : this.#update(row, now),
        this.#keeping(row, id, now),
        this.#newest(row, id, actor),
      ],
      events: [projectEvent(project, "project.status", event, { origin, time: now })],
    };
  }

  async #store(
    project: Project,
    report: Report,
    { caller, actor }: { readonly caller: Caller; readonly actor: Actor },
  ): Promise<{ readonly check: Check; readonly isNew: boolean }> {
    const checkin = await this.#resolveId(project, report.checkin);
    const { context } = report;
    for (let left = TRIES;; left--) {
      const known = await this.find(project, checkin, context);
      const isNew = known === null;
      if (isNew) await this.#requireRoom(project, checkin, actor);
      const origin = originOf(caller);
      try {
        await this.#database.commit(
          this.#reporting(project, { ...report, checkin }, known, { actor, origin }),
        );
      } catch (error) {
        if (left > 1 && (error instanceof Duplicate || error instanceof Unchanged)) continue;
        throw error;
      }
      const check = await this.find(project, checkin, context);
      if (check === null) throw new NotFound(`There is no project "${project.slug}"`);
      return { check, isNew };
    }
  }

  /** The check of a context, or null. */
  async find(
    project: Pick<Project, "id">,
    checkin: string,
    context: string,
  ): Promise<Check | null> {
    const row = await this.#ofProject(project).where("checkin", "=", checkin)
      .where("context", "=", context).executeTakeFirst();
    return row === undefined ? null : checkOf(row);
  }

  /**
   * The checks of a check-in, by context.
   *
   * @param checkin its whole id
   */
  async list(project: Pick<Project, "id">, checkin: string): Promise<Check[]> {
    const rows = await this.#ofProject(project).where("checkin", "=", checkin)
      .orderBy("context").execute();
    return rows.map(checkOf);
  }

  /**
   * The failed checks of all projects since a time, newest first.
   *
   * @param since Unix milliseconds
   */
  async failed(
    since: number,
    limit: number,
  ): Promise<readonly (Check & { readonly projectId: string })[]> {
    const rows = await this.#database.tables.selectFrom("checks").selectAll()
      .where("state", "in", ["failure", "error"]).where("updated_at", ">=", since)
      .orderBy("updated_at", "desc").limit(limit).execute();
    return rows.map((row) => Object.assign(checkOf(row), { projectId: row.project_id }));
  }

  /**
   * The state of each context of a check-in.
   *
   * @param checkin its whole id
   */
  async statesOf(
    project: Pick<Project, "id">,
    checkin: string,
  ): Promise<ReadonlyMap<string, CheckState>> {
    const rows = await this.#database.tables.selectFrom("checks").select(["context", "state"])
      .where("project_id", "=", project.id).where("checkin", "=", checkin).execute();
    return new Map(rows.map(({ context, state }) => [context, state]));
  }

  /**
   * What each reporter said last of the checks of a check-in, the newest first.
   *
   * @param checkin its whole id
   */
  async newestReports(
    project: Pick<Project, "id">,
    checkin: string,
    contexts: readonly string[],
  ): Promise<readonly NewestReport[]> {
    const rows = await this.#database.tables.selectFrom("newest_reports").selectAll()
      .where("project_id", "=", project.id).where("checkin", "=", checkin)
      .where("context", "in", contexts).orderBy("report_id", "desc").execute();
    return rows.map((
      { context, state, reporter_key: key, reporter_name: name, reporter_kind },
    ) => ({
      context,
      state,
      reporter: { key, name, kind: reporter_kind as Actor["kind"] },
    }));
  }

  /** Every report of a check-in, newest first. */
  async history(
    project: Pick<Project, "id">,
    checkin: string,
    { context, limit, offset }: {
      readonly context?: string | undefined;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<{ readonly reports: PastReport[]; readonly total: number }> {
    let query = this.#database.tables.selectFrom("check_history")
      .where("project_id", "=", project.id).where("checkin", "=", checkin);
    if (context !== undefined) query = query.where("context", "=", context);
    const { total } = await query.select(({ fn }) => fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow();
    const rows = await query.selectAll().orderBy("id", "desc").limit(limit).offset(offset)
      .execute();
    const reports = rows.map((row): PastReport => ({
      checkin: row.checkin,
      context: row.context,
      state: row.state as CheckState,
      description: row.description,
      target_url: row.target_url,
      reporter: row.reporter_name,
      reported_at: new Date(row.reported_at).toISOString(),
    }));
    return { reports, total: Number(total) };
  }

  /**
   * The whole id of a check-in, by its id, a prefix of it, a branch or a tag.
   *
   * @throws NotFound; Invalid if a prefix fits several
   */
  async resolve(project: Project, name: string): Promise<string> {
    const { uuid } = await this.#repositories.read(
      project,
      (repository) => repository.resolveCheckin(name),
    );
    return uuid;
  }

  /**
   * The whole id of a reported check-in, or of a commit of Git by its whole hash. Names of branches are
   * refused: their tips may move.
   */
  async #resolveId(project: Project, checkin: string): Promise<string> {
    const id = checkin.toLowerCase();
    const missing = new NotFound(`There is no check-in "${checkin}"`);
    if (!ID.test(id)) throw missing;
    const uuid = await this.resolve(project, id);
    // Digits alone may be a date.
    if (!uuid.startsWith(id) && !COMMIT.test(id)) throw missing;
    return uuid;
  }

  async #requireRoom(project: Project, checkin: string, { name }: Actor): Promise<void> {
    const rows = await this.#database.tables.selectFrom("checks").select("reporter_name")
      .where("project_id", "=", project.id).where("checkin", "=", checkin).execute();
    if (rows.length >= MAX_CONTEXTS) {
      throw new Conflict(`A check-in has at most ${MAX_CONTEXTS} contexts`);
    }
    const own = rows.filter(({ reporter_name }) => reporter_name === name);
    if (own.length >= MAX_CONTEXTS_OF_ONE) {
      throw new Conflict(`A check-in has at most ${MAX_CONTEXTS_OF_ONE} contexts of one reporter`);
    }
  }

  #ofProject({ id }: Pick<Project, "id">) {
    return this.#database.tables.selectFrom("checks").selectAll().where("project_id", "=", id);
  }

  #insertion(row: ReportRow, now: number): Statement {
    const insertion = this.#database.tables.insertInto("checks").values(({ selectFrom }) => ({
      ...row,
      number: selectFrom("checks").where("project_id", "=", row.project_id)
        .select(({ fn, eb, lit }) => eb(fn.coalesce(fn.max("number"), lit(0)), "+", 1).as("next")),
      created_at: now,
      updated_at: now,
    }));
    return statement(insertion);
  }

  #update({ project_id, checkin, context, ...row }: ReportRow, now: number): Statement {
    const update = this.#database.tables.updateTable("checks").set({ ...row, updated_at: now })
      .where("project_id", "=", project_id).where("checkin", "=", checkin)
      .where("context", "=", context);
    return statement(update, { mustChange: true });
  }

  #keeping(row: ReportRow, id: string, now: number): Statement {
    return statement(
      this.#database.tables.insertInto("check_history").values({ ...row, id, reported_at: now }),
    );
  }

  #newest(
    { project_id, checkin, context, reporter_name, state }: ReportRow,
    report_id: string,
    { key: reporter_key, kind: reporter_kind }: Actor,
  ): Statement {
    const said = { reporter_name, reporter_kind, state, report_id };
    return statement(
      this.#database.tables.insertInto("newest_reports")
        .values({ project_id, checkin, context, reporter_key, ...said })
        .onConflict((conflict) =>
          conflict.columns(["project_id", "checkin", "context", "reporter_key"]).doUpdateSet(said)
        ),
    );
  }
}

type ReportRow = ReturnType<typeof rowOf>;

function rowOf(
  { project, checkin, report, actor }: {
    readonly project: Project;
    readonly checkin: string;
    readonly report: Report;
    readonly actor: Actor;
  },
) {
  const { context, state, description, target_url } = report;
  const project_id = project.id;
  return {
    project_id,
    checkin,
    context,
    state,
    description,
    target_url,
    reporter_name: actor.name,
  };
}

function checkOf(row: Selectable<Tables["checks"]>): Check {
  const { number, checkin, context, state, description } = row;
  return {
    number,
    checkin,
    context,
    state,
    description,
    targetUrl: row.target_url,
    reporter: row.reporter_name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The text and the colour of a badge. */
export interface Badge {
  readonly message: "unknown" | "failing" | "pending" | "passing";
  readonly color: string;
}

const LABEL = "build";
const LABEL_COLOR = "#555";
const HEIGHT = 20;
const CHARACTER_WIDTH = 7;
const PADDING = 10;

/** The worst state of a check-in's checks, as one word. */
export function badgeOf(states: Iterable<CheckState>): Badge {
  const all = new Set(states);
  if (all.size === 0) return { message: "unknown", color: "#9ca3af" };
  if (all.has("error") || all.has("failure")) return { message: "failing", color: "#ef4444" };
  if (all.has("pending")) return { message: "pending", color: "#eab308" };
  return { message: "passing", color: "#22c55e" };
}

/** A badge as SVG. */
export function renderBadge({ message, color }: Badge): string {
  const [labelWidth, messageWidth] = [widthOf(LABEL), widthOf(message)];
  const width = labelWidth + messageWidth;
  const text = (words: string, center: number) => `<text x="${center}" y="14">${words}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img"`,
    ` aria-label="${LABEL}: ${message}"><title>${LABEL}: ${message}</title>`,
    `<rect width="${labelWidth}" height="${HEIGHT}" fill="${LABEL_COLOR}"/>`,
    `<rect x="${labelWidth}" width="${messageWidth}" height="${HEIGHT}" fill="${color}"/>`,
    `<g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">`,
    text(LABEL, labelWidth / 2),
    text(message, labelWidth + messageWidth / 2),
    "</g></svg>",
  ].join("");
}

function widthOf(words: string): number {
  return words.length * CHARACTER_WIDTH + PADDING;
}
