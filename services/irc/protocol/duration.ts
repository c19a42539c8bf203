/** Milliseconds of each unit that a length of time can be given in. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Longest time that can be given: ten years. */
const LONGEST = 3650 * 86_400_000;

/**
 * Reads a length of time such as `90m` or `1d12h`, in seconds (`s`), minutes, hours, days and weeks.
 *
 * @returns milliseconds, or null if the text is none or longer than ten years
 */
export function parseDuration(text: string): number | null {
  if (!/^(?:\d{1,9}[smhdw])+$/.test(text)) return null;
  let milliseconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d{1,9})([smhdw])/g)) {
    milliseconds += Number(count) * (UNITS[unit as string] as number);
  }
  return milliseconds > 0 && milliseconds <= LONGEST ? milliseconds : null;
}
