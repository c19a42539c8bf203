/**
 * The history of IRC on disk: a SQLite file of its own, which a worker reads and writes. Implements
 * the IRC server's interface `HistoryStore`.
 */
export { HistoryArchive } from "./archive.ts";
export type { ArchiveOptions, ArchiveStats } from "./archive.ts";
export type { Retention } from "./protocol.ts";
