/** What a runner reads and writes of a job's folders. */
export { ArchiveTooLarge, hashesOf, pack, unpack } from "./archives.ts";
export { findArtifacts } from "./artifacts.ts";
export { openInside } from "./inside.ts";
