import type { Selectable, Updateable } from "kysely";
import {
  type Change,
  type Database,
  type NewEvent,
  type Statement,
  statement,
  type Tables,
} from "../../engines/database/mod.ts";
import type { Principal } from "../../people/identity/mod.ts";
import { type Actor, type Project, projectEvent } from "../projects/mod.ts";
import type { LANDING_STATUSES } from "./records.ts";
import type { By } from "./statements.ts";

/** Ended landings that a queue still shows. */
const SHOWN_ENDED = 20;

/** Why a review came back from the queue. */
export interface Reason {
  readonly message: string;
  /** Paths that conflict with the target branch. */
  readonly conflicts?: readonly { readonly path: string; readonly kind: string }[];
  /** The check-in with which it conflicts. */
  readonly base?: string;
  /** Contexts of checks that failed or did not report in time. */
  readonly contexts?: readonly string[];
}

/** A review on its way to its target branch. Times are Unix milliseconds. */
export interface Landing {
  readonly id: string;
  readonly projectId: string;
  readonly reviewId: string;
  /** The number, title and author of the review. */
  readonly review: number;
  readonly title: string;
  readonly author: string;
  readonly targetBranch: string;
  /** The approved tip, which is merged. */
  readonly tip: string;
  readonly status: (typeof LANDING_STATUSES)[number];
  /** The check-in on which the candidate was made. */
  readonly base: string | null;
  /** The merge that is tested and lands. */
  readonly candidate: string | null;
  readonly reason: Reason | null;
  /** In whose name it lands. */
  readonly queuedBy: Pick<Actor, "key" | "name">;
  /** Who sent the request; null for one from before this was kept. */
  readonly askedBy: Principal | null;
  readonly queuedAt: number;
  readonly testingSince: number | null;
  readonly endedAt: number | null;
}

type LandingRow = Selectable<Tables["landings"]> & {
  number: number;
  title: string;
  author_name: string;
};

/** Reads and writes the landing queue. None of its statements can be refused. */
export class LandingStore {
  readonly #tables: Database["tables"];

  constructor(database: Pick<Database, "tables">) {
    this.#tables = database.tables;
  }

  /** The open landings of a project, in the order of the queue. */
  async open(projectId: string): Promise<readonly Landing[]> {
    const rows = await this.#rows().where("landings.project_id", "=", projectId)
      .where("ended_at", "is", null).orderBy("landings.id").execute();
    return rows.map(landingOf);
  }

  /** The statement with which the time limit of every candidate under test begins anew. */
  restarting(now: number): Statement {
    return statement(
      this.#tables.updateTable("landings").set({ testing_since: now })
        .where("ended_at", "is", null).where("testing_since", "is not", null),
    );
  }

  /** The latest ended landings, newest first. */
  async ended(projectId: string): Promise<readonly Landing[]> {
    const rows = await this.#rows().where("landings.project_id", "=", projectId)
      .where("ended_at", "is not", null).orderBy("landings.id", "desc").limit(SHOWN_ENDED)
      .execute();
    return rows.map(landingOf);
  }

  async get(id: string): Promise<Landing | null> {
    const row = await this.#rows().where("landings.id", "=", id).executeTakeFirst();
    return row === undefined ? null : landingOf(row);
  }

  /** The open landing of a review, or null. */
  async openOf(reviewId: string): Promise<Landing | null> {
    const row = await this.#rows().where("review_id", "=", reviewId)
      .where("ended_at", "is", null).executeTakeFirst();
    return row === undefined ? null : landingOf(row);
  }

  /** The newest landing of a review that has ended, or null. */
  async lastOf(reviewId: string): Promise<Landing | null> {
    const row = await this.#rows().where("review_id", "=", reviewId)
      .where("ended_at", "is not", null).orderBy("landings.id", "desc").limit(1)
      .executeTakeFirst();
    return row === undefined ? null : landingOf(row);
  }

  /** The open landings of all projects, oldest first. */
  async openOfAll(limit: number): Promise<readonly Landing[]> {
    const rows = await this.#rows().where("landings.status", "in", ["queued", "testing"])
      .where("ended_at", "is", null).orderBy("landings.id").limit(limit).execute();
    return rows.map(landingOf);
  }

  /**
   * Landings of all projects that came back with conflicts, newest first, unless the review has
   * ended, or has a new round, or is queued again.
   *
   * @param since Unix milliseconds
   */
  async conflicts(since: number, limit: number): Promise<readonly Landing[]> {
    const rows = await this.#rows().where("landings.status", "=", "returned")
      .where("ended_at", ">=", since).where("reason", "like", '%"conflicts":[{%')
      .where("reviews.status", "not in", ["merged", "closed"])
      .where(({ not, exists, selectFrom }) =>
        not(exists(
          selectFrom("landings as later").select("later.id")
            .whereRef("later.project_id", "=", "landings.project_id")
            .whereRef("later.target_branch", "=", "landings.target_branch")
            .whereRef("later.review_id", "=", "landings.review_id")
            .whereRef("later.id", ">", "landings.id"),
        ))
      )
      .where(({ not, exists, selectFrom }) =>
        not(exists(
          selectFrom("review_rounds").select("round")
            .whereRef("review_rounds.review_id", "=", "landings.review_id")
            .whereRef("review_rounds.started_at", ">", "landings.ended_at"),
        ))
      )
      .orderBy("ended_at", "desc").limit(limit).execute();
    return rows.map(landingOf);
  }

  /** The projects with open landings. */
  async projects(): Promise<readonly string[]> {
    const rows = await this.#tables.selectFrom("landings").select("project_id").distinct()
      .where("ended_at", "is", null).execute();
    return rows.map(({ project_id }) => project_id);
  }

  /** Puts a landing at the end of its queue. */
  queued(project: Project, landing: Landing, by: By): Change {
    const insertion = this.#tables.insertInto("landings").values({
      id: landing.id,
      project_id: landing.projectId,
      review_id: landing.reviewId,
      target_branch: landing.targetBranch,
      tip: landing.tip,
      status: "queued",
      base: null,
      candidate: null,
      reason: null,
      queued_by_key: landing.queuedBy.key,
      queued_by_name: landing.queuedBy.name,
      asked_by: landing.askedBy === null ? null : textOf(landing.askedBy),
      queued_at: landing.queuedAt,
      testing_since: null,
      ended_at: null,
    });
    return { statements: [statement(insertion)], events: [event(project, landing, by)] };
  }

  /** Records a landing's candidate, which waits for its checks. */
  testing(
    project: Project,
    landing: Landing,
    { base, candidate }: { readonly base: string; readonly candidate: string },
    by: By,
  ): Change {
    const change = { status: "testing", base, candidate, testing_since: by.now } as const;
    const after = { ...landing, status: "testing", candidate } as const;
    return {
      statements: [this.#update(landing, change)],
      events: [event(project, after, by)],
    };
  }

  landed(project: Project, landing: Landing, by: By): Change {
    const after = { ...landing, status: "landed" } as const;
    return {
      statements: [this.#update(landing, { status: "landed", ended_at: by.now })],
      events: [event(project, after, by)],
    };
  }

  returned(project: Project, landing: Landing, reason: Reason, by: By): Change {
    const change = {
      status: "returned",
      reason: JSON.stringify(reason),
      ended_at: by.now,
    } as const;
    const after = { ...landing, status: "returned", reason } as const;
    return {
      statements: [this.#update(landing, change)],
      events: [event(project, after, by)],
    };
  }

  #rows() {
    return this.#tables.selectFrom("landings")
      .innerJoin("reviews", "reviews.id", "landings.review_id")
      .selectAll("landings").select(["number", "title", "author_name"]);
  }

  #update({ id }: Landing, change: Updateable<Tables["landings"]>): Statement {
    return statement(
      this.#tables.updateTable("landings").set(change)
        .where("id", "=", id).where("ended_at", "is", null),
    );
  }
}

function landingOf(row: LandingRow): Landing {
  return {
    id: row.id,
    projectId: row.project_id,
    reviewId: row.review_id,
    review: row.number,
    title: row.title,
    author: row.author_name,
    targetBranch: row.target_branch,
    tip: row.tip,
    status: row.status,
    base: row.base,
    candidate: row.candidate,
    reason: row.reason === null ? null : JSON.parse(row.reason),
    queuedBy: { key: row.queued_by_key, name: row.queued_by_name },
    askedBy: row.asked_by === null ? null : principalOf(row.asked_by),
    queuedAt: row.queued_at,
    testingSince: row.testing_since,
    endedAt: row.ended_at,
  };
}

function textOf({ scopes, ...principal }: Principal): string {
  return JSON.stringify({ ...principal, scopes: [...scopes] });
}

function principalOf(text: string): Principal {
  const kept = JSON.parse(text);
  return { ...kept, scopes: new Set(kept.scopes) };
}

function event(project: Project, landing: Landing, { origin, now }: By): NewEvent {
  const { review, title, author, targetBranch, status, candidate, reason } = landing;
  return projectEvent(project, "project.landing", {
    review,
    id: review,
    title,
    agent: author,
    agent_id: author,
    target_branch: targetBranch,
    status,
    candidate,
    reason: reason?.message ?? null,
    conflicts: reason?.conflicts ?? [],
    contexts: reason?.contexts ?? [],
  }, { origin, time: now });
}
