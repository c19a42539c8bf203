import type { Change, Database } from "../../engines/database/mod.ts";
import { Conflict } from "../../kernel/errors.ts";
import {
  type AccountDirectory,
  type Caller,
  OPERATOR,
  originOf,
} from "../../people/identity/mod.ts";
import type { Project, ProjectRepositories, RegisteredKind } from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { LANDING_PREFIX, type Workspaces } from "../workspaces/mod.ts";
import type { Landing, LandingStore, Reason } from "./landing_store.ts";
import type { Reviews } from "./reviews.ts";

/** Conflicts that one reason lists. */
const MAX_CONFLICTS = 200;

export interface LandingStepsOptions {
  readonly database: Database;
  readonly repositories: ProjectRepositories;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly workspaces: Pick<Workspaces, "merged" | "get">;
  readonly reviews: Pick<Reviews, "store">;
  readonly store: LandingStore;
  readonly scheduler: Pick<Scheduler, "now">;
}

/** The branch of a review's candidates. */
function landingBranch({ review }: Pick<Landing, "review">): string {
  return `${LANDING_PREFIX}${review}`;
}

interface CandidateBody {
  readonly landingId: string;
  readonly base: string;
}

interface LandedBody {
  readonly landingId: string;
  readonly workspaceId: string;
}

/** The steps of a landing. Each is one intention, so a kill leaves it either done or not begun. */
export class LandingSteps {
  readonly #options: LandingStepsOptions;
  readonly #candidate: RegisteredKind<CandidateBody>;
  readonly #landed: RegisteredKind<LandedBody>;

  constructor(options: LandingStepsOptions) {
    this.#options = options;
    const { repositories: { intentions }, store, workspaces } = options;
    this.#candidate = intentions.register<CandidateBody>({
      name: "landing.candidate",
      settle: async ({ project, body, artifacts, origin, now }) => {
        const landing = await store.get(body.landingId);
        const checkin = artifacts.find(({ kind }) => kind === "checkin");
        if (landing === null || landing.endedAt !== null || checkin === undefined) return {};
        const made = { base: body.base, candidate: checkin.uuid };
        return store.testing(project, landing, made, { origin, now });
      },
    });
    this.#landed = intentions.register<LandedBody>({
      name: "landing.landed",
      settle: async ({ project, body: { landingId, workspaceId }, origin, now }) => {
        const landing = await store.get(landingId);
        if (landing === null || landing.endedAt !== null) return {};
        const { tip, base, candidate, targetBranch: target, reviewId } = landing;
        const ended = await workspaces.merged({
          workspaceId,
          project,
          tip,
          base: base ?? "",
          target,
          checkin: candidate ?? "",
          extra: { review: reviewId },
          origin,
          now,
        });
        return joined(store.landed(project, landing, { origin, now }), ended);
      },
    });
  }

  /**
   * Merges a landing's tip onto a check-in, on a separate branch. An earlier candidate is closed.
   *
   * @param check throws if the step is no longer right
   * @returns the reason if it cannot be merged; null if the candidate was made
   */
  async build(
    project: Project,
    landing: Landing,
    { base, check }: { readonly base: string; readonly check: () => Promise<void> },
  ): Promise<Reason | null> {
    const { repositories } = this.#options;
    const { id: landingId, tip, review, title, queuedBy } = landing;
    let reason: Reason | null = null;
    try {
      await repositories.write(project, {
        caller: this.#callerOf(landing),
        user: queuedBy.name,
        intention: { kind: this.#candidate, body: { landingId, base } },
        write: async (repository, stamp) => {
          await check();
          const before = await repository.branchTip(landingBranch(landing));
          const { checkin, preview } = await repository.merge({
            ...stamp,
            ours: base,
            theirs: tip,
            comment: `Land review ${review}: ${title}`,
            branch: landingBranch(landing),
            closes: before === null ? [] : [before],
            followParents: true,
          });
          if (checkin !== null) return;
          const conflicts = preview.conflicts.slice(0, MAX_CONFLICTS)
            .map(({ path, kind }) => ({ path, kind }));
          reason = { message: "It conflicts with the target branch", conflicts, base };
          throw new Conflict("The merge has conflicts");
        },
      });
      return null;
    } catch (error) {
      if (reason !== null) return reason;
      throw error;
    }
  }

  /**
   * Moves a landing's candidate to the target branch, and closes the workspace's branch and the tickets
   * of the work.
   *
   * @throws Conflict if the target branch has moved
   */
  async land(project: Project, landing: Landing, check: () => Promise<void>): Promise<void> {
    const { repositories } = this.#options;
    const { id: landingId, candidate, tip, targetBranch: branch, queuedBy } = landing;
    const { workspaceId, tickets } = await this.#workOf(landing);
    await repositories.write(project, {
      caller: this.#callerOf(landing),
      user: queuedBy.name,
      intention: { kind: this.#landed, body: { landingId, workspaceId } },
      write: async (repository, stamp) => {
        await check();
        await repository.moveToBranch({
          ...stamp,
          checkin: candidate ?? "",
          branch,
          closes: [tip],
          resolves: tickets,
        });
      },
    });
  }

  /** Takes a landing out of its queue, and closes the branch of its candidate. */
  async giveBack(
    project: Project,
    landing: Landing,
    reason: Reason,
    caller: Caller = this.#callerOf(landing),
  ): Promise<void> {
    const { database, repositories, store, scheduler } = this.#options;
    const isEnded = await repositories.exclusively(project, caller, async () => {
      const current = await store.get(landing.id);
      if (current === null || current.endedAt !== null) return true;
      const by = { origin: originOf(caller), now: scheduler.now() };
      await database.commit(store.returned(project, current, reason, by));
      return false;
    });
    const { candidate: target } = landing;
    if (isEnded || target === null) return;
    await repositories.write(project, {
      caller,
      user: landing.queuedBy.name,
      // What ends work is done although there is no room.
      coming: null,
      write: (repository, stamp) =>
        repository.changeTags({ ...stamp, changes: [{ sign: "+", name: "closed", target }] }),
    });
  }

  /** What a landing lands: the id of the workspace, and the whole ids of the tickets that it resolves. */
  async #workOf({ reviewId }: Landing) {
    const { reviews, workspaces } = this.#options;
    const review = await reviews.store.get(reviewId);
    const workspaceId = review?.workspace?.id ?? "";
    const work = await workspaces.get(workspaceId);
    const tickets = [work?.ticket, review?.ticket].filter((ticket) => typeof ticket === "string");
    return { workspaceId, tickets: [...new Set(tickets)] };
  }

  /** The actor who queued a landing, and in whose name it lands. */
  #callerOf({ queuedBy: { key, name } }: Landing): Caller {
    const account = this.#options.accounts.get(key);
    const principal = account === null
      ? OPERATOR
      : { ...OPERATOR, kind: account.kind, id: account.id, name, scopes: new Set<never>() };
    return { principal, address: null, requestId: null };
  }
}

function joined(one: Change, other: Change): Change {
  return {
    statements: [...one.statements ?? [], ...other.statements ?? []],
    events: [...one.events ?? [], ...other.events ?? []],
  };
}
