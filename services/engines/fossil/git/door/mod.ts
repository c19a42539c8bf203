/** A repository's Git objects: what `git clone` and `git fetch` get. */
export { GitCompanion } from "./companion.ts";
export { companionPath } from "./schema.ts";
