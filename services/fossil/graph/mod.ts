/** The graph of check-ins: what reading and merging know about who descends from whom. */
export { type Ancestry, loadAncestry } from "./ancestry.ts";
