/** `fossil clone`, `pull`, `push` and `sync` of projects. README.md explains how. */
export {
  type ArrivingMessage,
  type DeliveredAnswer,
  ProjectSync,
  type ProjectSyncOptions,
  type SyncCall,
} from "./project_sync.ts";
export type { SyncStats } from "./sync_stats.ts";
