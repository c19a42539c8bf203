import type { Retention } from "./protocol.ts";

/** How much an archive has. */
export interface Extent {
  /** Unix time in milliseconds of the oldest record; null without one. */
  readonly oldestTime: number | null;
  /** Used bytes of the file. */
  readonly bytes: number;
  /** Records of the longest log. */
  readonly longest: number;
}

/** Whether retention would remove something. */
export function exceeds(
  { oldestTime, bytes, longest }: Extent,
  retention: Retention,
  now: number,
): boolean {
  if (oldestTime === null) return false;
  const { age, records, bytes: most } = retention;
  const isOld = age !== null && oldestTime < now - age;
  return isOld || (records !== null && longest > records) || (most !== null && bytes > most);
}
