import type { Change, Database } from "../database/mod.ts";
import { Conflict } from "../errors.ts";
import { originOf } from "../identity/mod.ts";
import type { Project, ProjectRepositories, RegisteredKind } from "../projects/mod.ts";
import { isOpen, type Review } from "./records.ts";
import type { ReviewRequest } from "./request.ts";
import type { By } from "./statements.ts";
import type { ReviewStore } from "./store.ts";

export interface ReviewMarkingOptions {
  readonly database: Database;
  readonly repositories: ProjectRepositories;
  readonly store: Pick<ReviewStore, "get">;
  /** @throws Conflict if the review must not be merged */
  readonly requireApproved: (project: Project, review: Review) => Promise<unknown>;
  /** The change of the app database for a merged review. */
  readonly changeOf: (project: Project, review: Review, by: By) => Promise<Change>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

interface MarkBody {
  readonly review: string;
}

/** Merges reviews without a workspace: marks them as merged, and closes their tickets. */
export class ReviewMarking {
  readonly #options: ReviewMarkingOptions;
  readonly #kind: RegisteredKind<MarkBody>;

  constructor(options: ReviewMarkingOptions) {
    this.#options = options;
    this.#kind = options.repositories.intentions.register<MarkBody>({
      name: "review.merged",
      settle: async ({ project, body, origin, now }) => {
        const review = await options.store.get(body.review);
        if (review === null || !isOpen(review)) return {};
        return await options.changeOf(project, review, { origin, now });
      },
    });
  }

  /** @throws Conflict if the review is not approved, or no longer approved */
  async mark(project: Project, review: Review, request: ReviewRequest): Promise<void> {
    const { repositories } = this.#options;
    const { ticket } = review;
    const isDone = ticket === null ||
      await repositories.read(project, (repository) => repository.isTicketClosed(ticket));
    if (isDone) await this.#markAlone(project, review, request);
    else await this.#markAndClose(project, { review, ticket }, request);
  }

  async #markAndClose(
    project: Project,
    { review, ticket }: { readonly review: Review; readonly ticket: string },
    { caller, actor }: ReviewRequest,
  ): Promise<void> {
    const { repositories } = this.#options;
    const hash = await repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind: this.#kind, body: { review: review.id } },
      write: async (repository, stamp) => {
        await this.#require(project, review);
        return await repository.closeTicket({ ...stamp, ticket });
      },
    });
    if (hash === null) await this.#markAlone(project, review, { caller });
  }

  /** Marks a review that has no ticket to close. */
  #markAlone(project: Project, { id }: Review, { caller }: Pick<ReviewRequest, "caller">) {
    const { database, repositories, clock, changeOf } = this.#options;
    return repositories.exclusively(project, caller, async () => {
      const review = await this.#require(project, { id });
      await database.commit(
        await changeOf(project, review, { origin: originOf(caller), now: clock() }),
      );
    });
  }

  /** The current state of the review. */
  async #require(project: Project, { id }: Pick<Review, "id">): Promise<Review> {
    const review = await this.#options.store.get(id);
    if (review === null) throw new Conflict("The review no longer exists");
    await this.#options.requireApproved(project, review);
    return review;
  }
}
