import { Conflict, NotFound } from "../errors.ts";
import { type Caller, originOf } from "../identity/mod.ts";
import type { Actor, Project, ProjectRepositories } from "../projects/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { isOpen, type Review } from "./records.ts";
import type { By } from "./statements.ts";
import type { ReviewStore } from "./store.ts";

export interface ReviewChangesOptions {
  readonly store: ReviewStore;
  readonly repositories: Pick<ProjectRepositories, "exclusively">;
  readonly workspaces: Pick<Workspaces, "get">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Runs changes of reviews, each while nothing is written to the project's repository. */
export class ReviewChanges {
  readonly #options: ReviewChangesOptions;

  constructor(options: ReviewChangesOptions) {
    this.#options = options;
  }

  /** @throws NotFound */
  async require(project: Pick<Project, "id">, number: number): Promise<Review> {
    const review = await this.#options.store.find(project.id, number);
    if (review === null) throw new NotFound("Review not found");
    return review;
  }

  /**
   * Changes the current state of a review, while nothing else in the project changes.
   *
   * @throws NotFound
   */
  run<T>(
    project: Project,
    number: number,
    caller: Caller,
    change: (review: Review) => Promise<T>,
  ): Promise<T> {
    return this.#options.repositories.exclusively(
      project,
      caller,
      async () => await change(await this.require(project, number)),
    );
  }

  /** The current owner of the reviewed workspace; null if there is none. */
  async ownerOf({ workspace }: Review): Promise<Pick<Actor, "key"> | null> {
    if (workspace === null) return null;
    return (await this.#options.workspaces.get(workspace.id))?.owner ?? null;
  }

  /** Who makes a change, and when. */
  by(caller: Caller, { name }: Actor): By {
    return { origin: originOf(caller), now: this.#options.clock(), name };
  }
}

/** @throws Conflict if the review has ended */
export function requireOpen(review: Review): void {
  if (!isOpen(review)) throw new Conflict(`Review is already ${review.status}`);
}
