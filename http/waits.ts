import type { Ended, Principal } from "../services/identity/mod.ts";

/** Requests that wait for something, so that they end with the credential that they came by. */
export class Waits {
  readonly #waiting = new Map<AbortController, Principal>();

  /**
   * Runs something that waits.
   *
   * @param closed aborts when the client closes the request
   * @param wait gets a signal that aborts then, and when the principal's credential ends
   */
  async run<Result>(
    principal: Principal,
    closed: AbortSignal,
    wait: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const ended = new AbortController();
    this.#waiting.set(ended, principal);
    try {
      return await wait(AbortSignal.any([closed, ended.signal]));
    } finally {
      this.#waiting.delete(ended);
    }
  }

  /** Ends the waiting of a credential that is good for nothing any more. */
  abortEnded(ended: Ended): void {
    for (const [controller, principal] of this.#waiting) {
      if (ended.covers(principal)) controller.abort();
    }
  }
}
