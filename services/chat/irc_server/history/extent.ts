import type { Operation } from "./changes.ts";

/** The bounds of the archive. Null turns a bound off. */
export interface Retention {
  /** Age in milliseconds. */
  readonly age: number | null;
  /** Records of one log. */
  readonly records: number | null;
  /** Used bytes of the file. */
  readonly bytes: number | null;
}

/** How much an archive has at most. */
export interface Extent {
  /** Unix time in milliseconds of the oldest record; null without one. */
  readonly oldestTime: number | null;
  /** Used bytes of the file. */
  readonly bytes: number;
  /** Records of the longest log. */
  readonly longest: number;
}

/**
 * How much it has at most after these changes.
 *
 * @param bytes the used bytes of the file then
 * @returns null if that is not known
 */
export function grown(
  { oldestTime, longest }: Extent,
  operations: readonly Operation[],
  bytes: number,
): Extent | null {
  // It may join two logs.
  if (operations.some(({ kind }) => kind === "rename")) return null;
  const added = operations.flatMap((operation) =>
    operation.kind === "append" ? [operation.record.time] : []
  );
  return { oldestTime: oldestTime ?? added[0] ?? null, bytes, longest: longest + added.length };
}

/** Whether retention may have something to remove. */
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
