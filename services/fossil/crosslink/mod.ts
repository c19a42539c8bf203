/** Derived tables: the content of artifacts as tables that can be queried. */
export { longPrefix } from "./context.ts";
export { type TagObserver } from "./context.ts";
export { Crosslinker, type Inspect, type LinkChecks } from "./crosslinker.ts";
export { filesOf, ManifestFiles } from "./files.ts";
export { rebuild, type RebuildResult } from "./rebuild.ts";
