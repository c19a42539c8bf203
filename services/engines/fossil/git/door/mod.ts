/** A repository's Git objects: what `git clone` and `git fetch` get. */
export { GitCompanion } from "./companion.ts";
export { readGitRefs, sizesOf, writeFetched } from "./fetching.ts";
export { answerNegotiation, type NegotiationAnswer } from "./negotiation.ts";
export type { PackReport } from "./packing.ts";
export { companionPath } from "./schema.ts";
