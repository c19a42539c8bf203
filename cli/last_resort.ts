import type { Log } from "../services/log.ts";

/**
 * Keeps the process alive after an error that nothing has caught, which is a bug: it is logged, and
 * everybody else goes on.
 */
export function surviveErrors(log: Log): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("An error was not caught; this is a bug", { error: event.reason });
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    log.error("An error was not caught; this is a bug", { error: event.error });
  });
}
