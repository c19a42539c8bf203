/** Longest question, and longest answer, in characters. */
export const MAX_TEXT = 2000;

/** Shortest and longest time until a deadline, in seconds. */
export const MIN_DEADLINE = 10;
export const MAX_DEADLINE = 30 * 86_400;

/** Texts that differ only in case and outer spaces are one choice. */
export function folded(text: string): string {
  return text.trim().toLowerCase();
}
