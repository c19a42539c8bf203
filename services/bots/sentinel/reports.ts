import type { Speaker } from "../bot.ts";
import type { Incident } from "./incidents.ts";

/** An incident, with what only the program may see. */
export interface Report {
  readonly incident: Incident;
  /** Who said it, as proven. */
  readonly speaker: Speaker;
  /** What was said. */
  readonly text: string;
}

/**
 * The sentinel's reports inside this program. Nothing that anybody says in a channel becomes a
 * report.
 */
export class Reports {
  #listener: ((report: Report) => void) | null = null;

  /** Passes a report on. */
  send(report: Report): void {
    this.#listener?.(report);
  }

  /**
   * Calls a listener with each report from now on.
   *
   * @returns a function that ends it
   */
  listen(listener: (report: Report) => void): () => void {
    this.#listener = listener;
    return () => {
      if (this.#listener === listener) this.#listener = null;
    };
  }
}
