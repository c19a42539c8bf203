/**
 * What was said on IRC, on disk: a SQLite file of its own, which a worker reads and writes. It fills
 * the interface that the IRC server declares for it (`HistoryStore`).
 */
export { HistoryArchive } from "./archive.ts";
export type { ArchiveOptions, ArchiveStats } from "./archive.ts";
export type { Retention } from "./protocol.ts";
