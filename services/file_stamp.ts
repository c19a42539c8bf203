/**
 * A time as the names of files have it on every system: `2026-11-24T02-15-00Z`.
 *
 * @param time in Unix milliseconds
 */
export function fileStamp(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z").replaceAll(":", "-");
}
