import type { Agents } from "../../services/people/agents/mod.ts";
import type { Scheduler } from "../../services/kernel/scheduler.ts";

/** How often the agents that are here are compared with those before, in milliseconds. */
const STEP = 3000;

/**
 * Tells readers that agents came or went, which is no event of the log. It looks only while it has
 * readers.
 */
export class PresenceWatch {
  readonly #agents: Pick<Agents, "presences">;
  readonly #scheduler: Scheduler;
  readonly #readers = new Set<() => void>();
  #online: ReadonlySet<string> = new Set();
  #cancel: () => void = () => {};

  constructor(agents: Pick<Agents, "presences">, scheduler: Scheduler) {
    this.#agents = agents;
    this.#scheduler = scheduler;
  }

  /**
   * Calls a reader each time that agents came or went.
   *
   * @returns ends it
   */
  add(reader: () => void): () => void {
    this.#readers.add(reader);
    if (this.#readers.size === 1) {
      this.#online = this.#look();
      this.#expect();
    }
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#cancel();
    };
  }

  #expect(): void {
    this.#cancel = this.#scheduler.after(STEP, () => {
      this.#expect();
      const online = this.#look();
      const isSame = online.size === this.#online.size && online.isSubsetOf(this.#online);
      this.#online = online;
      if (isSame) return;
      for (const reader of [...this.#readers]) reader();
    });
  }

  /** The agents that are here. */
  #look(): ReadonlySet<string> {
    return new Set(this.#agents.presences().flatMap(({ id, online }) => online ? [id] : []));
  }
}
