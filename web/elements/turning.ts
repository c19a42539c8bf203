/**
 * Marks that turn the text behind them: Unicode TR 36 and "Trojan Source" (CVE-2021-42574). The
 * group keeps them when a text is split.
 */
export const TURNING = /([\u202a-\u202e\u2066-\u2069])/;

/** What stands for a mark, such as `U+202E`. */
export function nameOfMark(mark: string): string {
  return `U+${mark.charCodeAt(0).toString(16).toUpperCase()}`;
}
