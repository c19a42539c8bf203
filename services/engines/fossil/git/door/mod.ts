/** A repository's Git objects: what `git clone` and `git fetch` get. */
export { GitCompanion } from "./companion.ts";
export { companionPath } from "./schema.ts";
export { answerNegotiation, negotiate, type NegotiationAnswer } from "./negotiation.ts";
export { planPack } from "./plan.ts";
export { type PackReport, writePack } from "./packing.ts";
