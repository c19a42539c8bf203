/** The graph of check-ins, for reading and merging. */
export { type Ancestry, extendAncestry, loadAncestry } from "./ancestry.ts";
export { Moves, type Rename } from "./moves.ts";
