/** A repository's Git objects: what `git clone` and `git fetch` get. */
export { GitCompanion } from "./companion.ts";
export {
  answerFetch,
  commitsOf,
  type FetchAnswer,
  type GitSignature,
  type PackTarget,
  type PackTime,
  prepareClones,
  readGitRefs,
  signaturesOf,
  sizesOf,
  writeFetched,
} from "./fetching.ts";
export { havesOf } from "./haves.ts";
export { namesIn } from "./rows.ts";
export type { NegotiationAnswer } from "./negotiation.ts";
export { keepFetched, type KeptFile, type PackReport } from "./kept_pack.ts";
export { companionPath } from "./schema.ts";
