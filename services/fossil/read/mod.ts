/** Reading: functions over a `Reader` that give plain data in the shapes of the JSON API. */
export * from "./pending.ts";
export { Reader, type ReaderOptions } from "./reader.ts";
export { resolveArtifact, resolveCheckin, type Resolved } from "./resolve.ts";
export type * from "./shapes.ts";
