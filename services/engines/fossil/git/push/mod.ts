/** Pushes: unpacked beside the repository, then stored as check-ins and tags in one transaction. */
export { type FetchedPack, importPack, type PackImportReport } from "./import.ts";
export {
  type GitPush,
  type GitPushReport,
  type PushedRef,
  type PushedRefReport,
  receivePush,
} from "./receive.ts";
export { type RehearsedPush, rehearsePush, storeRehearsed } from "./rehearsal.ts";
export { type SentPack, type UnpackedPush, unpackPush, unpackShortPush } from "./unpack.ts";
