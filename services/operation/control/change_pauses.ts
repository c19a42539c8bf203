import { Conflict, NotFound } from "../../kernel/errors.ts";
import type { Project, ProjectRepositories, Projects } from "../../work/projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { newUlid } from "../../kernel/ulid.ts";

/** The longest pause, in milliseconds: then changes go on, whatever the caller does. */
const MAX_PAUSE = 5000;

/** How long changes wait for a project that is being written, in milliseconds. */
const PATIENCE = 250;

/** How long a pause waits for a project that is being written, in milliseconds. */
const WAIT = 10_000;

export interface ChangePausesOptions {
  readonly projects: Pick<Projects, "all">;
  readonly repositories: Pick<ProjectRepositories, "exclusively" | "homes">;
  /** Writes what is acknowledged and waits for the disk. */
  readonly flush: readonly (() => Promise<void>)[];
  readonly scheduler: Scheduler;
}

/** A pause that has begun. */
export interface ChangePause {
  readonly id: string;
  /** It ends by itself after so many seconds. */
  readonly seconds: number;
  /** The slugs of projects that are still being written, by a long import for example. */
  readonly busy: readonly string[];
}

/** Changes of projects that wait. */
interface Held {
  /** Projects that are still being written. */
  readonly busy: ReadonlySet<Project>;
  /** Resolves when no project is. */
  readonly idle: Promise<unknown>;
  release(): void;
}

/**
 * Pauses of the changes of all projects, during which the database and the repositories agree. A
 * backup takes its snapshots in one, which takes milliseconds. Requests that change a project wait
 * meanwhile; everything else goes on.
 */
export class ChangePauses {
  readonly #options: ChangePausesOptions;
  #beginning = false;
  #current: { readonly id: string; end(): void } | null = null;

  constructor(options: ChangePausesOptions) {
    this.#options = options;
  }

  /**
   * Writes what is acknowledged, waits for running changes and begins a pause.
   *
   * @throws Conflict if there is another pause
   */
  async begin(): Promise<ChangePause> {
    if (this.#beginning || this.#current !== null) {
      throw new Conflict("Changes are paused already; try again in a few seconds");
    }
    this.#beginning = true;
    try {
      await Promise.all(this.#options.flush.map((flush) => flush()));
      const { busy, release } = await this.#holdAll();
      const id = newUlid(this.#options.scheduler.now());
      const cancel = this.#options.scheduler.after(MAX_PAUSE, () => this.#end());
      this.#current = {
        id,
        end: () => {
          cancel();
          release();
        },
      };
      return { id, seconds: MAX_PAUSE / 1000, busy: Array.from(busy, ({ slug }) => slug) };
    } finally {
      this.#beginning = false;
    }
  }

  /**
   * Ends a pause.
   *
   * @throws NotFound if it has ended already
   */
  end(id: string): void {
    if (this.#current?.id !== id) throw new NotFound("The pause has ended already");
    this.#end();
  }

  /** Ends the pause, if there is one. */
  close(): void {
    this.#end();
  }

  #end(): void {
    this.#current?.end();
    this.#current = null;
  }

  /**
   * Holds the changes of all projects. A project that is being written for long is waited for while
   * the others go on; in the end, it is left out.
   */
  async #holdAll(): Promise<Held> {
    const { scheduler } = this.#options;
    const deadline = scheduler.now() + WAIT;
    for (;;) {
      const held = this.#hold();
      await this.#within(PATIENCE, held.idle);
      const left = deadline - scheduler.now();
      if (held.busy.size === 0 || left <= 0) return held;
      held.release();
      await this.#within(left, held.idle);
    }
  }

  #hold(): Held {
    const { projects, repositories } = this.#options;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const busy = new Set<Project>();
    const here = projects.all().filter(({ project }) => repositories.homes.isHere(project));
    const begun = here.map(({ project }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      busy.add(project);
      const holding = repositories.exclusively(project, null, () => {
        busy.delete(project);
        resolve();
        return released;
      });
      // Too many changes wait for this project: it stays busy.
      holding.catch(() => resolve());
      return promise;
    });
    return { busy, idle: Promise.all(begun), release };
  }

  async #within(milliseconds: number, done: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.scheduler.after(milliseconds, resolve);
    await Promise.race([done, promise]);
    cancel();
  }
}
