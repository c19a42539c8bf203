/**
 * The history of IRC on disk: a SQLite file of its own, which a worker reads and writes. Implements
 * the IRC server's interface `HistoryStore`.
 */
export { archivePart } from "./archive_part.ts";
export { HistoryArchive } from "./archive.ts";
export type { ArchiveOptions, ArchiveStats } from "./archive.ts";
export { type JournalContent, NO_JOURNAL, readJournal } from "./journal_files.ts";
export type { FoundMoment, FoundRecords, RecordSearch } from "./protocol.ts";
export type { SoughtWords } from "./spoken.ts";
export type { Retention } from "./extent.ts";
