import type { EarlyEnd } from "../../kernel/early_end.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { CallerQuota, type Principal } from "../../people/identity/mod.ts";
import type { Feeds, Notice } from "../feeds/mod.ts";
import { accessOf, type Project, type Projects } from "../projects/mod.ts";

/** Most requests that wait at the same time. */
const MAX_WAITING = 2000;

export interface CheckWaitsOptions {
  readonly feeds: Pick<Feeds, "follow">;
  readonly projects: Pick<Projects, "get">;
  readonly scheduler: Scheduler;
}

/** How checks stand: which are still to come. */
interface Pending {
  readonly waiting_for: readonly string[];
}

/** What a request waits for. */
export interface Awaited<Status extends Pending> {
  /** Reads how the checks stand. */
  read(): Promise<Status>;
  /** Events of the project after which they may stand otherwise. */
  readonly names: readonly string[];
  /** Whether an event of such a name is about them. */
  concerns(notice: Notice): boolean;
}

/** Requests that wait until checks have come out. Each event about them makes a request look again. */
export class CheckWaits {
  readonly #options: CheckWaitsOptions;
  readonly #quota = new CallerQuota(MAX_WAITING, {
    things: "requests",
    state: "waiting for checks",
  });

  constructor(options: CheckWaitsOptions) {
    this.#options = options;
  }

  /**
   * Reads how checks stand, once they have come out, when the time is over, or at an early end, such
   * as that of the caller's right to read the project.
   *
   * @param seconds 0 reads at once
   * @throws TooMany; what reading throws
   */
  async read<Status extends Pending>(
    { id }: Pick<Project, "id">,
    principal: Principal,
    awaited: Awaited<Status>,
    { seconds, end }: { readonly seconds: number; readonly end: EarlyEnd },
  ): Promise<Status> {
    if (seconds === 0 || end.isOver) return await awaited.read();
    const { feeds, projects, scheduler } = this.#options;
    using _held = this.#quota.take({ principal, address: null });
    let [isNew, isOver] = [false, false];
    let wake = () => {};
    const look = () => {
      isNew = true;
      wake();
    };
    const stop = () => {
      isOver = true;
      wake();
    };
    const reading = feeds.follow(id, { names: awaited.names }, {
      message(notice) {
        if (awaited.concerns(notice)) look();
      },
      gap: look,
      end: stop,
      mayRead() {
        const held = projects.get(id);
        return held !== null && accessOf(held, principal).may("read");
      },
    });
    const cancel = scheduler.after(seconds * 1000, stop);
    end.onEnd = stop;
    try {
      for (;;) {
        isNew = false;
        const status = await awaited.read();
        if (isOver || status.waiting_for.length === 0) return status;
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        if (!isNew) await promise;
      }
    } finally {
      end.onEnd = null;
      cancel();
      reading.close();
    }
  }
}
