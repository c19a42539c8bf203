import type { Ended, Principal } from "../services/identity/mod.ts";

/** Waiting requests, which end when their credential ends. */
export class Waits {
  readonly #waiting = new Map<AbortController, Principal>();

  /**
   * Runs a task that waits.
   *
   * @param closed aborts when the client closes the request
   * @param wait receives a signal that aborts then, and when the principal's credential ends
   */
  async run<Result>(
    principal: Principal,
    closed: AbortSignal,
    wait: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const ended = new AbortController();
    // `AbortSignal.any` would keep several times as much for each of thousands that wait.
    const abort = () => ended.abort();
    if (closed.aborted) abort();
    closed.addEventListener("abort", abort);
    this.#waiting.set(ended, principal);
    try {
      return await wait(ended.signal);
    } finally {
      this.#waiting.delete(ended);
      closed.removeEventListener("abort", abort);
    }
  }

  /** Ends the waits of an ended credential. */
  abortEnded(ended: Ended): void {
    for (const [controller, principal] of this.#waiting) {
      if (ended.covers(principal)) controller.abort();
    }
  }
}
