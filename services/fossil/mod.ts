/**
 * The Fossil engine: reads and writes Fossil repositories without the `fossil` program. The only
 * interface of this folder; README.md describes the subfolders.
 */
export * from "./artifact/mod.ts";
export * from "./codec/mod.ts";
export {
  describeError,
  errorCodeOf,
  FossilError,
  type FossilErrorCode,
  isFromSystem,
  isWriteRefused,
} from "./error.ts";
export {
  addUser,
  Config,
  ContentStore,
  type CreateOptions,
  type CustomTicketField,
  type Damage,
  Database,
  type Examination,
  isCustomTicketFieldName,
  type MissingContent,
  type NewUser,
  type Origin,
  type Progress,
  type SchemaState,
  TICKET_FIELD_TYPES,
} from "./content/mod.ts";
export { filesOf, type Inspect, type RebuildResult } from "./crosslink/mod.ts";
export {
  type NewRepositoryOptions,
  type OpenOptions,
  type ReceiveOptions,
  type ReceiveResult,
  Repository,
} from "./repository.ts";
export * from "./git/mod.ts";
export * from "./merge/mod.ts";
export {
  type ActivityOptions,
  type ArchiveFormat,
  type ArchiveOptions,
  type ArchiveReport,
  type BlameOptions,
  type DiffOptions,
  type HistoryOptions,
  type LineOptions,
  listAttachments,
  listBranches,
  listForumThreads,
  listTags,
  listTechnotes,
  listTickets,
  listUnversioned,
  listWikiPages,
  mainBranch,
  type MergeOf,
  type Paging,
  type PathOptions,
  readActivity,
  readArchive,
  readAttachment,
  readBlame,
  readBranchTip,
  readCheckin,
  readDiff,
  Reader,
  type ReaderOptions,
  readFile,
  readForumThread,
  readHistory,
  readLines,
  readReceived,
  readStatistics,
  readTechnote,
  readTicket,
  readTimeline,
  readTree,
  readUnversioned,
  readWikiHistory,
  readWikiPage,
  type ReceivedOptions,
  type Reference,
  resolveArtifact,
  resolveCheckin,
  type Resolved,
  type TicketFields,
  type TicketListOptions,
  type TimelineOptions,
  type TreeOptions,
  type UnifiedDiff,
  unifiedDiff,
  type WikiListOptions,
} from "./read/mod.ts";
export type * from "./read/shapes.ts";
export * from "./search/mod.ts";
export * from "./write/mod.ts";
export * from "./workers/mod.ts";
