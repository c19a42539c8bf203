/** A repository's Git objects: what `git clone` and `git fetch` get. */
export { GitCompanion } from "./companion.ts";
export {
  answerNegotiation,
  commitsOf,
  type GitSignature,
  type PackTarget,
  prepareClones,
  readGitRefs,
  signaturesOf,
  sizesOf,
  takeKeptPack,
  writeFetched,
} from "./fetching.ts";
export { havesOf } from "./haves.ts";
export type { NegotiationAnswer } from "./negotiation.ts";
export type { PackReport } from "./kept_pack.ts";
export { companionPath } from "./schema.ts";
