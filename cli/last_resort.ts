import type { Log } from "../services/kernel/log.ts";
import type { Scheduler } from "../services/kernel/scheduler.ts";

/** Errors of a minute that are logged; the others are counted. */
const MAX_LOGGED = 10;

const MINUTE = 60_000;

/**
 * Keeps the process alive after an error that nothing has caught, which is a bug: it is logged, and
 * everybody else goes on.
 */
export class UncaughtErrors {
  readonly #log: Pick<Log, "error">;
  readonly #scheduler: Pick<Scheduler, "after">;
  /** Errors of this minute. */
  #count = 0;

  constructor(log: Pick<Log, "error">, scheduler: Pick<Scheduler, "after">) {
    this.#log = log;
    this.#scheduler = scheduler;
  }

  /** Takes every error of the process from now on. */
  listen(): void {
    globalThis.addEventListener("unhandledrejection", (event) => {
      event.preventDefault();
      this.take(event.reason);
    });
    globalThis.addEventListener("error", (event) => {
      event.preventDefault();
      this.take(event.error);
    });
  }

  /** Logs an error, unless too many came within a minute: one that comes again and again fills the disk. */
  take(error: unknown): void {
    if (this.#count === 0) this.#scheduler.after(MINUTE, () => this.#endMinute());
    this.#count++;
    if (this.#count > MAX_LOGGED) return;
    this.#log.error("An error was not caught; this is a bug", { error });
  }

  #endMinute(): void {
    const more = this.#count - MAX_LOGGED;
    this.#count = 0;
    if (more > 0) this.#log.error("More errors were not caught", { count: more });
  }
}
