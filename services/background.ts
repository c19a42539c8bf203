import type { Log } from "./log.ts";

/**
 * Starts work without waiting for it, as timers do. Its error is logged with the name of the work,
 * and ends nothing else.
 *
 * @param name what the work does, such as `settle the start`
 */
export function inBackground(
  log: Pick<Log, "error">,
  name: string,
  work: () => void | Promise<void>,
): void {
  Promise.try(work).catch((error) =>
    log.error("Work in the background failed", { work: name, error })
  );
}
