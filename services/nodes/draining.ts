import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { Sweep } from "../sweep.ts";
import type { Leadership } from "./leadership.ts";
import type { Nodes } from "./nodes.ts";

/** Time for the load balancer to notice that a node is drained, in milliseconds. */
export const LEAVE_AFTER = 10_000;

export interface DrainingOptions {
  readonly nodes: Pick<Nodes, "self" | "find" | "onChanged">;
  readonly leadership: Pick<Leadership, "begin" | "end">;
  readonly scheduler: Pick<Scheduler, "after">;
  readonly log: Pick<Log, "error">;
}

/**
 * Lets this node lead unless it is drained. Some seconds after it was drained, it asks its clients
 * to leave, who come back to another node.
 */
export class Draining {
  readonly #options: DrainingOptions;
  readonly #listeners = new Set<() => void>();
  readonly #sweep: Sweep;
  #isOpen = false;
  #standing = false;
  #unsubscribe = () => {};
  #cancelLeave = () => {};

  constructor(options: DrainingOptions) {
    this.#options = options;
    const { log } = options;
    this.#sweep = new Sweep({ log, name: "drain or resume", task: () => this.#fit() });
  }

  /** Whether an operator has drained this node. */
  get isDrained(): boolean {
    const { nodes } = this.#options;
    return nodes.self !== null && (nodes.find(nodes.self)?.drainedAt ?? null) !== null;
  }

  /**
   * Calls a listener when clients that are connected for long shall leave.
   *
   * @param listener must not throw
   */
  onLeave(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Begins to lead, or to stand by; from now on, it follows what operators say. */
  async begin(): Promise<void> {
    this.#isOpen = true;
    this.#unsubscribe = this.#options.nodes.onChanged(() => this.#sweep.start());
    await this.#turn();
  }

  /** Leads no more. */
  async end(): Promise<void> {
    this.#isOpen = false;
    this.#unsubscribe();
    this.#cancelLeave();
    await this.#turn();
  }

  async #turn(): Promise<void> {
    this.#sweep.start();
    await this.#sweep.idle();
  }

  async #fit(): Promise<void> {
    const { leadership, scheduler } = this.#options;
    while (this.#standing !== (this.#isOpen && !this.isDrained)) {
      this.#standing = !this.#standing;
      this.#cancelLeave();
      if (this.#standing) await leadership.begin();
      else {
        await leadership.end();
        if (!this.#isOpen) continue;
        this.#cancelLeave = scheduler.after(LEAVE_AFTER, () => {
          for (const listener of this.#listeners) listener();
        });
      }
    }
  }
}
