/** `fossil clone`, `pull`, `push` and `sync` of projects. README.md explains how. */
export {
  type ArrivingMessage,
  type DeliveredAnswer,
  ProjectSync,
  type ProjectSyncOptions,
  type SyncCall,
  type SyncStats,
} from "./project_sync.ts";
export { mayPush, Pushes, type PushesOptions, type PushTurn } from "./pushing.ts";
