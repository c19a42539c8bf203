/** `git clone`, `fetch` and `push` of projects. README.md explains how. */
export { type FetchAnswer, GitDoor, type GitDoorOptions } from "./git_door.ts";
export {
  type GitPushCall,
  GitPushes,
  type GitPushesOptions,
  type PushOutcome,
} from "./git_pushes.ts";
export {
  type JudgedObject,
  type LfsObject,
  LfsObjects,
  type LfsObjectsOptions,
} from "./lfs_objects.ts";
export { storeInTurns } from "./push_turns.ts";
export { GrowingFile } from "./growing_file.ts";
