/** Import and export: `git fast-export` streams, and other repository files. */
export { exportGit } from "./export.ts";
export { importFossil } from "./fossil.ts";
export { collectAll, createEmptyRepository, GarbageCollector, importGit } from "./import.ts";
export { readPieces } from "./stream/mod.ts";
export {
  companionPath,
  GitCompanion,
  type GitSignature,
  type KeptFile,
  type NegotiationAnswer,
  type PackReport,
  type PackTime,
} from "./door/mod.ts";
export {
  type FetchedPack,
  type GitPush,
  type GitPushReport,
  importPack,
  type PackImportReport,
  type PushedRef,
  type PushedRefReport,
  receivePush,
  type RehearsedPush,
  rehearsePush,
  type SentPack,
  storeRehearsed,
  type UnpackedPush,
  unpackPush,
  unpackShortPush,
} from "./push/mod.ts";
export type * from "./types.ts";
