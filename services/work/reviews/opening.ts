import { slotFull, type Slots } from "../../people/agents/mod.ts";
import type { Change, Database } from "../../engines/database/mod.ts";
import { Conflict, Forbidden, Invalid, NotFound, TooMany } from "../../kernel/errors.ts";
import { type Account, originOf } from "../../people/identity/mod.ts";
import type { Actor, Project, ProjectRepositories } from "../projects/mod.ts";
import type { Claims, Submission, SubmissionPart, Tickets } from "../tickets/mod.ts";
import { requireTarget, type Workspace, type Workspaces } from "../workspaces/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { pin } from "./rounds.ts";
import { MAX_TITLE, type Review, type ReviewRequest } from "./records.ts";
import type { Reviewers } from "./reviewers.ts";
import type { NewReview } from "./schemas.ts";
import type { By, ReviewStatements } from "./statements.ts";
import type { ReviewStore } from "./store.ts";

/** Most open reviews of one author in a project, beside those of submitted work. */
const MAX_OPEN_PER_AUTHOR = 100;
/** Most reviews of one project. */
const MAX_REVIEWS = 1_000_000;

export interface ReviewOpeningOptions {
  readonly database: Database;
  readonly repositories: ProjectRepositories;
  readonly claims: Pick<Claims, "active" | "fence">;
  readonly tickets: Pick<Tickets, "resolve">;
  readonly workspaces: Pick<Workspaces, "find" | "get" | "line" | "files">;
  readonly store: ReviewStore;
  readonly statements: ReviewStatements;
  readonly reviewers: Reviewers;
  readonly slots: Pick<Slots, "limitOf">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A review before it has a number. */
type Draft = Pick<Review, "title" | "description" | "ticket" | "targetBranch" | "filesChanged"> & {
  readonly author: Actor;
  readonly workspace: Review["workspace"];
};

/** The review of submitted work, before it is opened, or an open one that gets more reviewers. */
interface Plan extends Review {
  /** Whom the author asks for a verdict. */
  readonly asked?: readonly Asked[];
}

type Asked = Pick<Account, "id" | "name">;

/** Opens reviews: on request, and as part of the submission of a claim. */
export class ReviewOpening implements SubmissionPart {
  readonly #options: ReviewOpeningOptions;
  /** The last number assigned in each project, whether it was used or not. */
  readonly #numbers = new Map<string, number>();

  constructor(options: ReviewOpeningOptions) {
    this.#options = options;
  }

  /** @throws Invalid, NotFound, Forbidden, Conflict, TooMany */
  async create(project: Project, request: NewReview, by: ReviewRequest): Promise<Review> {
    const { title, diff = "", workspace } = request;
    if (title === "") throw new Invalid("Review title is required");
    if (workspace === undefined && diff.trim() === "") {
      throw new Invalid(
        'Diff is required: send "workspace" for the changes of a workspace, or "diff"',
      );
    }
    return await this.#options.repositories.exclusively(
      project,
      by.caller,
      () => this.#create(project, request, by),
    );
  }

  /**
   * Prepares the review of a submitted workspace. An unknown, ended or unchanged workspace gets
   * none; a workspace under review keeps its review.
   */
  async prepare({ project, ticket, actor, summary, reviewers, workspace: name }: Submission) {
    const workspace = name === null ? null : await this.#findActive(project, name);
    if (workspace !== null && workspace.owner.key !== actor.key) {
      throw new Forbidden(ownersOnly(workspace));
    }
    const open = workspace === null ? null : await this.#openOf(project, workspace);
    const authors = [actor.key, ...open === null ? [] : [open.author.key]];
    const asked = this.#options.reviewers.resolve(project, reviewers, authors)
      .map(({ id, name }): Asked => ({ id, name }));
    if (open !== null) return await this.#planFor(open, asked);
    const targetBranch = await this.#mainBranch(project);
    const { filesChanged } = workspace === null
      ? { filesChanged: [] }
      : await this.#pin(project, workspace, targetBranch);
    if (workspace === null || filesChanged.length === 0) {
      if (asked.length === 0) return null;
      throw new Invalid('"reviewers" needs a workspace with changes to review');
    }
    const [firstLine = ""] = summary.trim().split("\n", 1);
    const title = ticket.title.trim() || firstLine || `Work on ticket ${ticket.uuid.slice(0, 10)}`;
    const review = await this.#number(project, {
      title: title.slice(0, MAX_TITLE),
      description: summary.slice(0, 20_000),
      author: actor,
      workspace: { id: workspace.id, name: workspace.name },
      ticket: ticket.uuid,
      targetBranch,
      filesChanged,
    });
    const plan: Plan = { ...review, asked };
    return { plan, answer: { review: review.number } };
  }

  /** Keeps an open review, and asks those for a verdict who were not asked before. */
  async #planFor(open: Review, asked: readonly Asked[]) {
    const { reviewers } = this.#options;
    const unasked = await reviewers.unasked(open, asked);
    await reviewers.requireRoom(open, unasked.length);
    const plan: Plan | null = unasked.length === 0 ? null : { ...open, asked: unasked };
    return { plan, answer: { review: open.number } };
  }

  /** Opens the prepared review, with the workspace's content at the end of its claim. */
  async settle(
    plan: unknown,
    { project, origin, now }: By & { readonly project: Project },
  ): Promise<Change> {
    const { asked = [], ...review } = plan as Plan;
    const { workspaces, store } = this.#options;
    const workspace = await workspaces.get(review.workspace?.id ?? "");
    if (workspace === null || workspace.status !== "active") return {};
    const by = { origin, now };
    const open = await this.#openOf(project, workspace);
    if (open !== null) return await this.#asked(project, open, asked, by);
    if (await store.get(review.id) !== null) return {};
    return await this.#opened(project, review, { workspace, diff: null, asked, by });
  }

  /** Asks those for a verdict on an open review who were not asked before. */
  async #asked(
    project: Project,
    review: Review,
    asked: readonly Asked[],
    by: By,
  ): Promise<Change> {
    const { statements, reviewers } = this.#options;
    const unasked = await reviewers.unasked(review, asked);
    if (unasked.length === 0) return {};
    const names = unasked.map(({ name }) => name);
    const { status } = review;
    const event = { status, action: "requested", reviewers: names, by } as const;
    return {
      statements: reviewers.insertion(review, unasked, by.now),
      events: [statements.event(project, review, event)],
    };
  }

  async #create(project: Project, request: NewReview, by: ReviewRequest): Promise<Review> {
    const { database, clock, store } = this.#options;
    await requireQuotaForReview(store, this.#options.slots, project, by.actor);
    const workspace = request.workspace === undefined
      ? null
      : await this.#requireWorkspace(project, request.workspace, by);
    const ticket = await this.#ticketOf(project, request, workspace, by);
    const targetBranch = request.target_branch ?? await this.#mainBranch(project);
    requireTarget(targetBranch);
    const pinned = workspace === null ? null : await this.#pin(project, workspace, targetBranch);
    if (pinned?.filesChanged.length === 0) {
      throw new Conflict("The workspace has no changes to review");
    }
    const authors = [by.actor.key, ...workspace === null ? [] : [workspace.owner.key]];
    const asked = this.#options.reviewers.resolve(project, request.reviewers, authors);
    const review = await this.#number(project, {
      title: request.title,
      description: request.description,
      author: by.actor,
      workspace: workspace === null ? null : { id: workspace.id, name: workspace.name },
      ticket,
      targetBranch,
      filesChanged: pinned?.filesChanged ?? request.files_changed,
    });
    const diff = workspace === null ? request.diff ?? "" : null;
    const when = { origin: originOf(by.caller), now: clock(), name: by.actor.name };
    await database.commit(
      await this.#opened(project, review, { workspace, diff, asked, by: when }),
    );
    return review;
  }

  /** Gives a draft the project's next number. Numbers are never reused. */
  async #number(project: Project, draft: Draft): Promise<Review> {
    const next = await this.#options.store.nextNumber(project.id);
    const number = Math.max(next, (this.#numbers.get(project.id) ?? 0) + 1);
    if (number > MAX_REVIEWS) throw new Conflict(`A project has at most ${MAX_REVIEWS} reviews`);
    this.#numbers.set(project.id, number);
    const now = this.#options.clock();
    return {
      ...draft,
      id: newUlid(now),
      projectId: project.id,
      number,
      status: "pending",
      round: 1,
      commentCount: 0,
      mergedAs: null,
      createdAt: now,
      updatedAt: now,
    };
  }

  /** The statements and events of a new review. */
  async #opened(
    project: Project,
    review: Review,
    { workspace, diff, asked = [], by }: {
      readonly workspace: Workspace | null;
      readonly diff: string | null;
      readonly asked?: readonly Asked[];
      readonly by: By;
    },
  ): Promise<Change> {
    const { statements, reviewers } = this.#options;
    const pinned = workspace === null
      ? null
      : await this.#pin(project, workspace, review.targetBranch);
    const round = pinned === null
      ? null
      : { round: 1, base: pinned.base, tip: pinned.tip, startedAt: by.now };
    const filesChanged = pinned?.filesChanged ?? review.filesChanged;
    const names = asked.map(({ name }) => name);
    const event = { status: "pending", action: "created", reviewers: names, by } as const;
    return {
      statements: [
        ...statements.insert({ ...review, filesChanged }, diff, round),
        ...reviewers.insertion(review, asked, by.now),
      ],
      events: [statements.event(project, review, event)],
    };
  }

  /** Finds the workspace of a new review. */
  async #requireWorkspace(
    project: Project,
    name: string,
    { actor, isAdmin, generation }: ReviewRequest,
  ): Promise<Workspace> {
    const { workspaces, claims } = this.#options;
    const workspace = await workspaces.find(project, name);
    if (workspace.status !== "active") {
      throw new Conflict(`Workspace is ${workspace.status}, cannot be reviewed`);
    }
    const isOwner = workspace.owner.key === actor.key;
    if (!isOwner && !isAdmin) {
      throw new Forbidden(ownersOnly(workspace));
    }
    if (workspace.ticket !== null && isOwner) {
      await claims.fence(project, { ticket: workspace.ticket, actor, generation });
    }
    const open = await this.#openOf(project, workspace);
    if (open !== null) {
      throw new Conflict(`Review ${open.number} of the workspace is open`, { review: open.number });
    }
    return workspace;
  }

  async #findActive(project: Project, name: string): Promise<Workspace | null> {
    const workspace = await this.#options.workspaces.find(project, name).catch((error: unknown) => {
      if (error instanceof NotFound) return null;
      throw error;
    });
    return workspace?.status === "active" ? workspace : null;
  }

  async #openOf(project: Project, { id, name }: Workspace): Promise<Review | null> {
    const open = await this.#options.store.openOf(project.id, [name]);
    return open.find(({ workspace }) => workspace?.id === id) ?? null;
  }

  #mainBranch(project: Project): Promise<string> {
    return this.#options.repositories.read(project, (repository) => repository.mainBranch());
  }

  #pin(project: Project, workspace: Workspace, target: string) {
    return pin(this.#options.workspaces, { project, workspace, target });
  }

  /** The whole id of the ticket that the review resolves. */
  async #ticketOf(
    project: Project,
    { ticket_uuid: id = "" }: NewReview,
    workspace: Workspace | null,
    { actor }: ReviewRequest,
  ): Promise<string | null> {
    const { tickets, claims } = this.#options;
    if (id === "") return workspace?.ticket ?? null;
    const { uuid } = await tickets.resolve(project, id);
    const claim = claims.active(project, uuid);
    if (claim !== null && claim.holder.key !== actor.key && actor.kind !== "operator") {
      throw new Forbidden("Cannot create a review for a ticket claimed by another agent");
    }
    return uuid;
  }
}

/** Why a caller cannot have a workspace reviewed that belongs to somebody else. */
function ownersOnly({ owner }: Workspace): string {
  return `Only the owning agent can open a review of this workspace: it belongs to "${owner.name}"`;
}

/** @throws TooMany if the author has too many open reviews, in all projects or in this one */
async function requireQuotaForReview(
  store: Pick<ReviewStore, "countOpenBy" | "openBy">,
  slots: Pick<Slots, "limitOf">,
  project: Project,
  { key }: Actor,
): Promise<void> {
  const limit = slots.limitOf("reviews", key);
  const open = await store.openBy(key, limit + 1);
  if (open.length >= limit) {
    const filling = open.map(({ number, title }) => `${number} "${title.slice(0, 40)}"`);
    throw slotFull({ slot: "reviews", limit, filling, advice: "merge or close some" });
  }
  if (await store.countOpenBy(project.id, key) >= MAX_OPEN_PER_AUTHOR) {
    throw new TooMany(
      `You have ${MAX_OPEN_PER_AUTHOR} open reviews in this project: merge or close some`,
    );
  }
}
