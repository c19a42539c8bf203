import type { Database, Statement } from "../../engines/database/mod.ts";
import type { Received } from "../../engines/fossil/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { type Intentions, markOfWrite } from "./intentions.ts";
import {
  causesOf,
  type OwnWrite,
  type ReceptionChange,
  type ReceptionObserver,
} from "./reception.ts";
import { receptionEvents } from "./reception_events.ts";
import type { ReceivedPlaces } from "./received_places.ts";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

export interface ReconciliationOptions {
  readonly database: Pick<Database, "commit">;
  readonly files: RepositoryFiles;
  readonly intentions: Intentions;
  readonly places: ReceivedPlaces;
  readonly scheduler: Scheduler;
}

/** Returns what the app database lacks of a whole repository. */
export type RepositoryLooker = (
  project: Project,
  isReplaced: boolean,
) => Promise<readonly Statement[]>;

/**
 * Brings the app database up to what is in repositories: one transaction has the events of new
 * artifacts, the outcome of intentions, the changes of observers, and how far it has come.
 */
export class Reconciliation {
  readonly #options: ReconciliationOptions;
  readonly #observers: ReceptionObserver[] = [];
  readonly #lookers: RepositoryLooker[] = [];
  /** Projects whose repository this process has looked at, by id. */
  readonly #seen = new Set<string>();

  constructor(options: ReconciliationOptions) {
    this.#options = options;
  }

  /**
   * Calls an observer with new artifacts of a repository, whichever program wrote them. The change
   * that it returns is committed with the artifacts' events, exactly once, also after a crash. So
   * the observer may use only its argument, the database and the repository, and none of its
   * statements may be `mustChange`.
   */
  onReceived(observer: ReceptionObserver): void {
    this.#observers.push(observer);
  }

  /**
   * Calls a looker with each repository before this process settles it for the first time, and when
   * its file was replaced: then no observer has got what is in it. The change that it returns may
   * come twice, and none of its statements may be `mustChange`.
   */
  onLook(looker: RepositoryLooker): void {
    this.#lookers.push(looker);
  }

  /**
   * What follows from the whole repository of a project. Call it while nothing else is written to the
   * project.
   *
   * @param isReplaced whether its file was replaced
   */
  async look(project: Project, isReplaced: boolean): Promise<readonly Statement[]> {
    const changes = await Promise.all(this.#lookers.map((look) => look(project, isReplaced)));
    return changes.flat();
  }

  /** Forgets a project that is removed. */
  forget({ id }: Pick<Project, "id">): void {
    this.#seen.delete(id);
  }

  /**
   * Settles the project's intentions, and appends the events of new artifacts. Call it while nothing
   * else is written to the project.
   *
   * @param own the writes that this process has just made
   * @param first what came since the project's place, if that is known; null to ask
   * @returns the bytes of the repository
   */
  async settle(
    project: Project,
    own: readonly OwnWrite[] = [],
    first: Received | null = null,
  ): Promise<number> {
    const { database, files, places } = this.#options;
    if (!this.#seen.has(project.id)) {
      const statements = await this.look(project, false);
      if (statements.length > 0) await database.commit({ statements });
      this.#seen.add(project.id);
    }
    for (let known = first;; known = null) {
      const after = places.of(project) ?? null;
      const received = known ??
        await files.use(project, (repository) => repository.received({ after }));
      await this.#settleUpTo(project, received, own);
      if (!received.more) return received.bytes;
    }
  }

  async #settleUpTo(
    project: Project,
    { artifacts, place, more }: Received,
    own: readonly OwnWrite[],
  ): Promise<void> {
    const { files, intentions, places, scheduler } = this.#options;
    const now = scheduler.now();
    const pending = intentions.of(project.id);
    const known = places.of(project);
    const isKnown = known?.rcvid === place.rcvid && known.projectCode === place.projectCode;
    if (pending.length === 0 && !more && isKnown) return;
    const { originOf, isOwn } = causesOf(own, pending);
    const outcomes = await files.use(
      project,
      (repository) =>
        Promise.all(pending.flatMap((write) => {
          const left = artifacts.filter(({ mark }) => markOfWrite(mark) === write.stamp.mark);
          if (more && left.length === 0) return [];
          return [intentions.outcome(write, { project, repository, artifacts: left, now })];
        })),
    );
    const changes: ReceptionChange[] = [...outcomes];
    for (const observe of artifacts.length === 0 ? [] : this.#observers) {
      const settled = changes.flatMap(({ events = [] }) => events);
      changes.push(await observe({ project, artifacts, originOf, isOwn, settled, now }));
    }
    const numbers = new Map(changes.flatMap((change) => [...change.ticketNumbers ?? []]));
    const events = receptionEvents(project, artifacts, { originOf, numbers, time: now });
    await places.keep(project, place, {
      statements: changes.flatMap((change) => change.statements ?? []),
      events: [...events, ...changes.flatMap((change) => change.events ?? [])],
    });
  }
}
