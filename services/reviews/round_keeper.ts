import type { Change } from "../database/mod.ts";
import type { ReceivedArtifact } from "../fossil/mod.ts";
import type { Reception } from "../projects/mod.ts";
import { branchOf, type Workspaces } from "../workspaces/mod.ts";
import type { Review } from "./records.ts";
import { pin } from "./pinning.ts";
import type { Reviewers } from "./reviewers.ts";
import type { ReviewStatements } from "./statements.ts";
import type { ReviewStore } from "./store.ts";

const BRANCH = new RegExp(`^${branchOf({ name: "(.+)" })}$`);

export interface RoundKeeperOptions {
  readonly workspaces: Pick<Workspaces, "get" | "line" | "files">;
  readonly store: ReviewStore;
  readonly statements: ReviewStatements;
  readonly reviewers: Pick<Reviewers, "of">;
}

/**
 * Begins the next round of a review when its workspace gets a check-in from any program, in the
 * transaction that appends the check-in's event.
 */
export class RoundKeeper {
  readonly #options: RoundKeeperOptions;

  constructor(options: RoundKeeperOptions) {
    this.#options = options;
  }

  /** Begins the next rounds of reviews whose workspaces got a check-in. */
  async next(reception: Reception): Promise<Change> {
    const { project, artifacts, settled } = reception;
    const ended = new Set(
      settled.filter(({ type }) => type === "project.workspace").map(({ data }) => data["name"]),
    );
    const newest = new Map<string, ReceivedArtifact>();
    for (const artifact of artifacts) {
      const [, name] = artifact.kind === "checkin" ? BRANCH.exec(artifact.branch) ?? [] : [];
      if (name !== undefined && !ended.has(name)) newest.set(name, artifact);
    }
    if (newest.size === 0) return {};
    const reviews = await this.#options.store.openOf(project.id, [...newest.keys()]);
    const changes: Change[] = [];
    for (const review of reviews) {
      const artifact = newest.get(review.workspace?.name ?? "");
      if (artifact !== undefined) changes.push(await this.#next(reception, review, artifact));
    }
    return {
      statements: changes.flatMap((change) => change.statements ?? []),
      events: changes.flatMap((change) => change.events ?? []),
    };
  }

  /** Begins the next round of a review, unless its tip is unchanged. */
  async #next(
    { project, originOf, now }: Reception,
    review: Review,
    artifact: ReceivedArtifact,
  ): Promise<Change> {
    const { workspaces, store, statements } = this.#options;
    const workspace = await workspaces.get(review.workspace?.id ?? "");
    const last = await store.newestRound(review);
    if (workspace === null || workspace.status !== "active" || last === null) return {};
    const { base, tip, filesChanged } = await pin(workspaces, {
      project,
      workspace,
      target: review.targetBranch,
    });
    if (tip === last.tip) return {};
    const round = { round: last.round + 1, base, tip, startedAt: now };
    const by = { origin: originOf(artifact), now };
    const reviewers = (await this.#options.reviewers.of([review])).get(review.id) ?? [];
    const { round: number } = round;
    const event = { status: "pending", action: "round", round: number, reviewers, by } as const;
    return {
      statements: statements.nextRound(review, round, filesChanged),
      events: [statements.event(project, review, event)],
    };
  }
}
