import type { Log } from "./log.ts";

/** Says which work in the background has failed. */
export function logFailure(log: Pick<Log, "error">, name: string, error: unknown): void {
  log.error("Work in the background failed", { work: name, error });
}

/**
 * Starts work without waiting for it, as timers do. Its error is logged with the name of the work,
 * and ends nothing else.
 *
 * @param name what the work does, such as `settle the start`
 * @returns a promise that resolves when the work has ended; it never rejects
 */
export function inBackground(
  log: Pick<Log, "error">,
  name: string,
  work: () => void | Promise<void>,
): Promise<void> {
  return Promise.try(work).catch((error) => logFailure(log, name, error));
}
