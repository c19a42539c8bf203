/** Derived tables: what artifacts say, put into tables that can be asked. */
export { longPrefix } from "./context.ts";
export { Crosslinker, type Inspect } from "./crosslinker.ts";
export { filesOf, ManifestFiles } from "./files.ts";
export { rebuild, type RebuildResult } from "./rebuild.ts";
