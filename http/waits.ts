import { EarlyEnd } from "../services/early_end.ts";
import type { Ended, Principal } from "../services/identity/mod.ts";

/** Waiting requests, which end when their credential ends. */
export class Waits {
  readonly #waiting = new Set<Wait>();

  /**
   * Runs a task that waits.
   *
   * @param closed aborts when the client closes the request
   * @param wait receives what ends then, and when the principal's credential ends
   */
  run<Result>(
    principal: Principal,
    closed: AbortSignal,
    wait: (end: EarlyEnd) => Promise<Result>,
  ): Promise<Result> {
    const waiting = new Wait(principal);
    if (closed.aborted) waiting.end();
    closed.addEventListener("abort", waiting);
    this.#waiting.add(waiting);
    return wait(waiting).finally(() => {
      this.#waiting.delete(waiting);
      closed.removeEventListener("abort", waiting);
    });
  }

  /** Ends the waits of an ended credential. */
  abortEnded(ended: Ended): void {
    for (const waiting of this.#waiting) {
      if (ended.covers(waiting.principal)) waiting.end();
    }
  }
}

/** The wait of one request, which also listens to its signal. */
class Wait extends EarlyEnd implements EventListenerObject {
  readonly principal: Principal;

  constructor(principal: Principal) {
    super();
    this.principal = principal;
  }

  handleEvent(): void {
    this.end();
  }
}
