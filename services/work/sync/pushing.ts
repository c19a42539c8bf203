/** Pushes of any program: whose turn it is, and what they may. */
import { Forbidden, Unavailable } from "../../kernel/errors.ts";
import type { PooledRepository, PushRules } from "../../engines/fossil/mod.ts";
import type { Caller, HourlyQuota, Identity } from "../../people/identity/mod.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import {
  accessOf,
  type Intend,
  type ProjectAccess,
  type ProjectRepositories,
  type Projects,
} from "../projects/mod.ts";
import { type PushRuleParts, pushRulesOf } from "./rules.ts";

/** The refusal of a push if the node has lost touch with the others meanwhile. */
const OUT_OF_TOUCH = "the server is not available at the moment; try again";

export interface PushesOptions extends PushRuleParts {
  readonly projects: Pick<Projects, "find" | "halts">;
  readonly repositories: ProjectRepositories;
  readonly identity: Pick<Identity, "onEnded">;
  /** Says when the disk has no room for a push. */
  readonly space: Pick<FreeSpace, "refusal">;
  /** Bounds the pushes of each caller. */
  readonly quota: Pick<HourlyQuota, "take">;
}

/** A push whose turn it is. */
export interface PushTurn {
  readonly repository: PooledRepository;
  /** For what it writes. */
  readonly mark: string | null;
  readonly intend: Intend;
  readonly access: ProjectAccess;
  readonly rules: PushRules;
}

/** Receives pushes. */
export class Pushes {
  readonly #options: PushesOptions;

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /**
   * Receives a push while nothing else is written to the project. The rights of the sender are those
   * after the wait for that.
   *
   * @param sender.isFromGit whether all that it brings is one event
   * @param push stores it in one operation of the pool; its receipt is null if nothing was stored
   * @throws Forbidden, TooMany, Unavailable; ServiceError in place of the engine's errors
   */
  async receive<Result extends { readonly receipt: number | null }>(
    { project, principal }: ProjectAccess,
    { slug, caller, isFromGit = false }: {
      readonly slug: string;
      readonly caller: Caller;
      readonly isFromGit?: boolean;
    },
    push: (turn: PushTurn) => Promise<Result>,
  ): Promise<Result> {
    const { repositories, identity, projects, quota, space } = this.#options;
    let hasEnded = false;
    let hasLostTouch = false;
    // A message that stores nothing is none.
    const counted = quota.take(principal);
    let isStored = false;
    const stopListening = identity.onEnded((ended) => {
      if (ended.isEverything) hasLostTouch = true;
      else hasEnded ||= ended.covers(principal);
    });
    try {
      const result = await repositories.receive(
        project,
        caller,
        async (repository, mark, intend) => {
          // Nobody knows whether the credential still holds: that is no reason to change it.
          if (hasLostTouch) throw new Unavailable(OUT_OF_TOUCH);
          const held = projects.find(slug);
          const access = held?.project.id === project.id
            ? accessOf(held, principal, projects.halts)
            : null;
          if (hasEnded || access === null || !mayPush(access)) {
            throw new Forbidden("not authorized to write");
          }
          const allowed = await pushRulesOf(this.#options, access);
          const { refusal } = space;
          const rules = refusal === null ? allowed : { ...allowed, standstill: refusal };
          return await push({ repository, mark, intend, access, rules });
        },
        { isFromGit },
      );
      isStored = result.receipt !== null;
      return result;
    } finally {
      if (!isStored) counted[Symbol.dispose]();
      stopListening();
    }
  }
}

/** Whether a caller may push anything to a project. */
export function mayPush(access: ProjectAccess): boolean {
  return access.may("write") && access.project.archivedAt === null;
}
