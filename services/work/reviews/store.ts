import type { ExpressionBuilder, Selectable } from "kysely";
import type { Database, Tables } from "../../engines/database/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Actor, Project } from "../projects/mod.ts";
import type { AwaitedReview, Comment, Review, ReviewStatus, Round, Verdict } from "./records.ts";

/** Columns of a review, except for its diff, which can be large. */
const COLUMNS = [
  "id",
  "project_id",
  "number",
  "title",
  "description",
  "status",
  "author_key",
  "author_name",
  "author_kind",
  "workspace_id",
  "workspace",
  "ticket",
  "target_branch",
  "round",
  "files_changed",
  "comment_count",
  "merged_as",
  "created_at",
  "updated_at",
] as const;

/** Statuses of open reviews. */
const OPEN: readonly ReviewStatus[] = ["pending", "approved", "changes_requested"];

/** Most authors that one answer names. */
const MAX_AUTHORS = 10_000;

/** What the comments of a review take. */
export interface RoomTaken {
  /** Of the author. */
  readonly comments: number;
  /** Of the author. */
  readonly characters: number;
  /** Characters of all. */
  readonly ofAll: number;
}

/** Which reviews to list. */
export interface ReviewFilter {
  readonly status?: ReviewStatus | undefined;
  /** Whether the review is neither merged nor closed. */
  readonly isOpen?: boolean | undefined;
  /** The key of the author. */
  readonly author?: string | undefined;
  /** The whole id of the ticket. */
  readonly ticket?: string | undefined;
  /** The name of the workspace. */
  readonly workspace?: string | undefined;
  /** The account whose verdict is awaited. */
  readonly waitingFor?: string | undefined;
}

/** Verdicts of a review that its history shows. */
const MAX_HISTORY = 200;

/** Most projects whose number is remembered. */
const MAX_KEPT = 1000;

/** Reads reviews. A list of any length costs three queries. */
export class ReviewStore {
  readonly #tables: Database["tables"];

  constructor(database: Pick<Database, "tables">) {
    this.#tables = database.tables;
  }

  /** A page of reviews, newest first, and the total number. */
  async list(
    projectId: string,
    { status, isOpen, author, ticket, workspace, waitingFor, limit, offset }: ReviewFilter & {
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<{ readonly reviews: readonly Review[]; readonly total: number }> {
    const matching = this.#tables.selectFrom("reviews").where("project_id", "=", projectId)
      .$if(status !== undefined, (query) => query.where("status", "=", status!))
      .$if(isOpen === true, (query) => query.where("status", "in", OPEN))
      .$if(isOpen === false, (query) => query.where("status", "not in", OPEN))
      .$if(author !== undefined, (query) => query.where("author_key", "=", author!))
      .$if(ticket !== undefined, (query) => query.where("ticket", "=", ticket!))
      .$if(workspace !== undefined, (query) => query.where("workspace", "=", workspace!))
      .$if(
        waitingFor !== undefined,
        (query) =>
          query.where("status", "in", OPEN).where((where) => this.#waits(where, waitingFor!)),
      );
    const { total } = await matching.select(({ fn }) => fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow();
    const rows = await matching.select(COLUMNS).orderBy("number", "desc")
      .limit(limit).offset(offset).execute();
    return { reviews: rows.map(reviewOf), total: Number(total) };
  }

  async find(projectId: string, number: number): Promise<Review | null> {
    const row = await this.#tables.selectFrom("reviews").select(COLUMNS)
      .where("project_id", "=", projectId).where("number", "=", number).executeTakeFirst();
    return row === undefined ? null : reviewOf(row);
  }

  async get(id: string): Promise<Review | null> {
    const row = await this.#tables.selectFrom("reviews").select(COLUMNS)
      .where("id", "=", id).executeTakeFirst();
    return row === undefined ? null : reviewOf(row);
  }

  /** The open reviews of the named workspaces of a project. */
  async openOf(projectId: string, workspaces: readonly string[]): Promise<readonly Review[]> {
    if (workspaces.length === 0) return [];
    const rows = await this.#tables.selectFrom("reviews").select(COLUMNS)
      .where("project_id", "=", projectId).where("workspace", "in", workspaces)
      .where("status", "in", OPEN).execute();
    return rows.map(reviewOf);
  }

  /** The newest review of a workspace, open or not. */
  async newestOf(workspaceId: string): Promise<Review | null> {
    const row = await this.#tables.selectFrom("reviews").select(COLUMNS)
      .where("workspace_id", "=", workspaceId).orderBy("number", "desc").limit(1)
      .executeTakeFirst();
    return row === undefined ? null : reviewOf(row);
  }

  /** The open reviews of all projects that wait for an account's verdict, newest first. */
  async waitingFor(account: string, limit: number): Promise<readonly Review[]> {
    const rows = await this.#tables.selectFrom("reviews").select(COLUMNS)
      .where("status", "in", OPEN).where((where) => this.#waits(where, account))
      .where(
        "id",
        "in",
        ({ selectFrom }) =>
          selectFrom("review_requests").select("review_id").where("account_id", "=", account),
      )
      .orderBy("updated_at", "desc").limit(limit).execute();
    return rows.map(reviewOf);
  }

  /** The open reviews of all projects that wait for verdicts of those who were asked, newest first. */
  async awaited(limit: number): Promise<readonly AwaitedReview[]> {
    const rows = await this.#tables.selectFrom("reviews")
      .innerJoin("review_requests", "review_requests.review_id", "reviews.id")
      .select(COLUMNS).select("review_requests.account_id")
      .where("status", "in", OPEN)
      .where(({ not, exists, selectFrom }) =>
        not(exists(
          selectFrom("review_verdicts").select("review_id")
            .whereRef("review_id", "=", "reviews.id")
            .whereRef("reviewer_key", "=", "review_requests.account_id")
            .where("withdrawn_at", "is", null),
        ))
      )
      .orderBy("updated_at", "desc").limit(limit).execute();
    const byReview = Map.groupBy(rows, ({ id }) => id);
    return Array.from(byReview.values(), (requests) => ({
      review: reviewOf(requests[0]!),
      reviewers: requests.map(({ account_id }) => account_id),
    }));
  }

  /** The pending reviews of all projects for which nobody was asked, newest first. */
  async waitingForAnybody(limit: number): Promise<readonly Review[]> {
    const rows = await this.#tables.selectFrom("reviews").select(COLUMNS)
      .where("status", "=", "pending")
      .where(({ not, exists, selectFrom }) =>
        not(exists(
          selectFrom("review_requests").select("review_id")
            .whereRef("review_id", "=", "reviews.id"),
        ))
      )
      .orderBy("updated_at", "desc").limit(limit).execute();
    return rows.map(reviewOf);
  }

  /** The open reviews of an author in all projects, newest first. */
  async openBy(author: string, limit: number): Promise<readonly Review[]> {
    const rows = await this.#tables.selectFrom("reviews").select(COLUMNS)
      .where("status", "in", OPEN).where("author_key", "=", author)
      .orderBy("updated_at", "desc").limit(limit).execute();
    return rows.map(reviewOf);
  }

  /** The keys of the authors of all pending reviews. */
  async pendingAuthors(): Promise<ReadonlySet<string>> {
    const rows = await this.#tables.selectFrom("reviews").select("author_key").distinct()
      .where("status", "=", "pending").limit(MAX_AUTHORS).execute();
    return new Set(rows.map(({ author_key }) => author_key));
  }

  /** How many reviews of a project are open. */
  async countOpen(projectId: string): Promise<number> {
    const { count } = await this.#tables.selectFrom("reviews")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("project_id", "=", projectId).where("status", "in", OPEN)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** How many open reviews of a project have an author. */
  async countOpenBy(projectId: string, author: string): Promise<number> {
    const { count } = await this.#tables.selectFrom("reviews")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("project_id", "=", projectId).where("status", "in", OPEN)
      .where("author_key", "=", author).executeTakeFirstOrThrow();
    return Number(count);
  }

  /** How many comments of a review have an author, and the characters of those and of all. */
  async roomTaken({ id }: Pick<Review, "id">, author: string): Promise<RoomTaken> {
    const { count, own, all } = await this.#tables.selectFrom("review_comments")
      .select(({ fn, case: when, lit }) => {
        const isOwn = when().when("author_key", "=", author);
        return [
          fn.sum<number | null>(isOwn.then(lit(1)).else(lit(0)).end()).as("count"),
          fn.sum<number | null>(
            isOwn.then(fn<number>("length", ["body"])).else(lit(0)).end(),
          ).as("own"),
          fn.sum<number | null>(fn<number>("length", ["body"])).as("all"),
        ];
      })
      .where("review_id", "=", id).executeTakeFirstOrThrow();
    return { comments: Number(count), characters: Number(own), ofAll: Number(all) };
  }

  /** The author's own diff. */
  async diffOf({ id }: Pick<Review, "id">): Promise<string> {
    const row = await this.#tables.selectFrom("reviews").select("diff")
      .where("id", "=", id).executeTakeFirst();
    return row?.diff ?? "";
  }

  /** The rounds of a review, oldest first; none if it has no workspace. */
  async rounds({ id }: Pick<Review, "id">): Promise<readonly Round[]> {
    const rows = await this.#tables.selectFrom("review_rounds").selectAll()
      .where("review_id", "=", id).orderBy("round").execute();
    return rows.map(roundOf);
  }

  /**
   * The tips of rounds, by the numbers of their reviews; the newest come first.
   *
   * @param of.reviews only those of these reviews; null for all
   */
  async roundTips(
    { id }: Pick<Project, "id">,
    { reviews, limit }: { readonly reviews: readonly number[] | null; readonly limit: number },
  ): Promise<readonly { readonly review: number; readonly round: number; readonly tip: string }[]> {
    const rows = await this.#tables.selectFrom("review_rounds")
      .innerJoin("reviews", "reviews.id", "review_rounds.review_id")
      .select(["reviews.number as review", "review_rounds.round as round", "tip"])
      .where("project_id", "=", id)
      .$if(reviews !== null, (query) => query.where("number", "in", [...reviews ?? []]))
      .orderBy("number", "desc").orderBy("review_rounds.round", "desc").limit(limit).execute();
    return rows;
  }

  /** The newest round of a review; null if it has no workspace. */
  async newestRound({ id }: Pick<Review, "id">): Promise<Round | null> {
    const row = await this.#tables.selectFrom("review_rounds").selectAll()
      .where("review_id", "=", id).orderBy("round", "desc").limit(1).executeTakeFirst();
    return row === undefined ? null : roundOf(row);
  }

  /** The standing verdicts, oldest first. */
  async verdicts({ id }: Pick<Review, "id">): Promise<readonly Verdict[]> {
    const rows = await this.#tables.selectFrom("review_verdicts").selectAll()
      .where("review_id", "=", id).where("withdrawn_at", "is", null).orderBy("id").execute();
    return rows.map(verdictOf);
  }

  /** The newest verdicts, whether they stand or not, oldest first. */
  async verdictHistory({ id }: Pick<Review, "id">): Promise<readonly Verdict[]> {
    const rows = await this.#tables.selectFrom("review_verdicts").selectAll()
      .where("review_id", "=", id).orderBy("id", "desc").limit(MAX_HISTORY).execute();
    return rows.map(verdictOf).reverse();
  }

  /** The round of a reviewer's last verdict, whether it stands or not; null if there is none. */
  async lastVerdictRound({ id }: Pick<Review, "id">, key: string): Promise<number | null> {
    const row = await this.#tables.selectFrom("review_verdicts").select("round")
      .where("review_id", "=", id).where("reviewer_key", "=", key)
      .orderBy("round", "desc").limit(1).executeTakeFirst();
    return row?.round ?? null;
  }

  /** Keys of those who gave a verdict on a review in any round. */
  async reviewers({ id }: Pick<Review, "id">): Promise<readonly string[]> {
    const rows = await this.#tables.selectFrom("review_verdicts").select("reviewer_key").distinct()
      .where("review_id", "=", id).execute();
    return rows.map(({ reviewer_key }) => reviewer_key);
  }

  /** The comments of a review, oldest first. */
  async comments({ id }: Pick<Review, "id">): Promise<readonly Comment[]> {
    const rows = await this.#tables.selectFrom("review_comments").selectAll()
      .where("review_id", "=", id).orderBy("number").execute();
    return rows.map(commentOf);
  }

  /** A comment of a review; null if there is none of this number. */
  async comment({ id }: Pick<Review, "id">, number: number): Promise<Comment | null> {
    const row = await this.#tables.selectFrom("review_comments").selectAll()
      .where("review_id", "=", id).where("number", "=", number).executeTakeFirst();
    return row === undefined ? null : commentOf(row);
  }

  /** The keys of those who commented on a review. */
  async commenters({ id }: Pick<Review, "id">): Promise<readonly string[]> {
    const rows = await this.#tables.selectFrom("review_comments").select("author_key").distinct()
      .where("review_id", "=", id).execute();
    return rows.map(({ author_key }) => author_key);
  }

  /** The number of a project's next review. */
  async nextNumber(projectId: string): Promise<number> {
    const { last } = await this.#tables.selectFrom("reviews")
      .select(({ fn }) => fn.max("number").as("last"))
      .where("project_id", "=", projectId).executeTakeFirstOrThrow();
    return Number(last ?? 0) + 1;
  }

  /** Whether an account was asked for a review, and has no verdict on it that stands. */
  #waits({ and, exists, not, selectFrom }: ExpressionBuilder<Tables, "reviews">, account: string) {
    const request = selectFrom("review_requests").select("review_id")
      .whereRef("review_id", "=", "reviews.id").where("account_id", "=", account);
    const verdict = selectFrom("review_verdicts").select("review_id")
      .whereRef("review_id", "=", "reviews.id").where("reviewer_key", "=", account)
      .where("withdrawn_at", "is", null);
    return and([exists(request), not(exists(verdict))]);
  }
}

/** How many reviews of each project are open, remembered until one of its reviews changes. */
export class OpenReviewCounts {
  readonly #store: Pick<ReviewStore, "countOpen">;
  /** By the project's id. */
  readonly #known = new BoundedMap<string, Promise<number>>(MAX_KEPT);

  constructor(
    database: Pick<Database, "onAppended">,
    store: Pick<ReviewStore, "countOpen">,
  ) {
    this.#store = store;
    // Each change of a review is committed with an event. Null stands for events of other nodes.
    database.onAppended((_, events) => {
      if (events === null) return this.#known.clear();
      for (const { type, data } of events) {
        if (type === "project.review") this.#known.delete(String(JSON.parse(data).project_id));
      }
    });
  }

  async of({ id }: Pick<Project, "id">): Promise<number> {
    const known = this.#known.get(id);
    if (known !== undefined) return await known;
    const read = this.#store.countOpen(id);
    this.#known.set(id, read);
    try {
      return await read;
    } catch (error) {
      if (this.#known.peek(id) === read) this.#known.delete(id);
      throw error;
    }
  }
}

/** @param row without its diff, which can be large */
function reviewOf(row: Omit<Selectable<Tables["reviews"]>, "diff">): Review {
  return {
    id: row.id,
    projectId: row.project_id,
    number: row.number,
    title: row.title,
    description: row.description,
    status: row.status,
    author: { key: row.author_key, name: row.author_name, kind: row.author_kind as Actor["kind"] },
    workspace: row.workspace_id === null
      ? null
      : { id: row.workspace_id, name: row.workspace ?? "" },
    ticket: row.ticket,
    targetBranch: row.target_branch,
    round: row.round,
    filesChanged: JSON.parse(row.files_changed),
    commentCount: row.comment_count,
    mergedAs: row.merged_as,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function roundOf(row: Selectable<Tables["review_rounds"]>): Round {
  return { round: row.round, base: row.base, tip: row.tip, startedAt: row.started_at };
}

function verdictOf(row: Selectable<Tables["review_verdicts"]>): Verdict {
  return {
    reviewId: row.review_id,
    round: row.round,
    reviewer: {
      key: row.reviewer_key,
      name: row.reviewer_name,
      kind: row.reviewer_kind as Actor["kind"],
    },
    verdict: row.verdict,
    givenAt: row.given_at,
  };
}

function commentOf(row: Selectable<Tables["review_comments"]>): Comment {
  return {
    number: row.number,
    round: row.round,
    author: { key: row.author_key, name: row.author_name },
    body: row.body,
    path: row.path,
    side: row.side,
    line: row.line,
    createdAt: row.created_at,
  };
}
