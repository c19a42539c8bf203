/** Backups of a data folder, and their restore; README.md describes both. */
export { ArchiveTarget, type ByteSink, fileSink, gzipSink } from "./archive_target.ts";
export { type BackupOptions, type BackupReport, type HeldChanges, makeBackup } from "./backup.ts";
export type { Folders } from "./contents.ts";
export { BackupError } from "./names.ts";
export { type FilePart, SqliteSnapshot } from "./sqlite_snapshot.ts";
export { FolderTarget } from "./folder_target.ts";
export { restoreBackup, type RestoreOptions, type RestoreReport } from "./restore.ts";
export type { BackupTarget } from "./target.ts";
