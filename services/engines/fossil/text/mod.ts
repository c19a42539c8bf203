/** Texts as lines, and the difference of two of them. Pure functions, no SQLite. */
export { diffSequences, type Hunk } from "./diff.ts";
export { matchesGlob } from "./glob.ts";
export type { Lines } from "./line_ids.ts";
export { LineTable, sliceLines, type SplitText } from "./lines.ts";
export { addTo, TextMap, TextSet } from "./text_map.ts";
export { type Match, matchSequences } from "./myers.ts";
