/** Derived tables: the content of artifacts as tables that can be queried. */
export type { TagObserver } from "./context.ts";
export { Crosslinker, type Inspect, type LinkChecks } from "./crosslinker.ts";
export { filesOf, isSameFile, ManifestFiles, manifestFiles } from "./files.ts";
export { hiddenDeletions } from "./hidden.ts";
export { rebuild, type RebuildOptions, type RebuildResult } from "./rebuild.ts";
