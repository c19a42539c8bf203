/** Texts compared by lines. Pure functions. */
export { compareEnds, type Comparison, Lines, matchLines } from "./lines.ts";
export { type UnifiedDiff, unifiedDiff } from "./unified.ts";
