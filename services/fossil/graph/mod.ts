/** The graph of check-ins, for reading and merging. */
export { type Ancestry, loadAncestry } from "./ancestry.ts";
