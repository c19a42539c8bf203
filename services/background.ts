import type { Log } from "./log.ts";

/**
 * Starts work that nobody waits for, such as that of a timer. An error in it is logged with its
 * name, and ends nothing else.
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
