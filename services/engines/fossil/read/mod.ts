/**
 * Reading: functions over a `Reader` that return plain data in the shapes of the JSON API. Some are
 * only for the search and not exported by the engine.
 */
export {
  type ArchiveFormat,
  type ArchiveOptions,
  type ArchiveReport,
  readArchive,
} from "./archive/mod.ts";
export { gzip, tarArchive } from "./archive/tar.ts";
export { listAttachments, readAttachment } from "./attachments.ts";
export { type BlameOptions, readBlame } from "./blame.ts";
export { listBranches, listTags, newestTags } from "./branches.ts";
export { readCheckin } from "./checkin.ts";
export { readRef } from "./checkins.ts";
export { type ComparisonOptions, readComparison } from "./comparison.ts";
export { readContributions, readUsers, type UsersOptions } from "./contributions.ts";
export { type DiffOptions, readDiff } from "./diff.ts";
export { listDivergedBranches, newestBranches, readOpenWork } from "./divergence.ts";
export { MAX_FILE_LINES, TICKET_ORDERS } from "./bounds.ts";
export { type FileLineOptions, readFileLines } from "./file_lines.ts";
export { lfsOidOf } from "./lfs_pointer.ts";
export { type FileOptions, isBinary, type PathOptions, readFile } from "./file.ts";
export { changedFiles } from "./last_change.ts";
export { listForumThreads, readForumPost, readForumThread } from "./forum.ts";
export { type HistoryOptions, readHistory } from "./history.ts";
export { type LinePlace, type LinePlaceOptions, readLinePlaces } from "./line_places.ts";
export { type LineOptions, type MergeOf, readBranchTip, readLines, readMergesOf } from "./lines.ts";
export { findFileOf, treeOf } from "./manifests.ts";
export { pageOf, type Paging } from "./paging.ts";
export { Reader, type ReaderOptions, type Versions } from "./reader.ts";
export { readReceived, type ReceivedOptions } from "./received.ts";
export { resolveArtifact, resolveCheckin, type Resolved } from "./resolve.ts";
export type * from "./received_shapes.ts";
export type * from "./shapes.ts";
export { readStatistics } from "./statistics.ts";
export { listTechnotes, readTechnote } from "./technotes.ts";
export { type UnifiedDiff, unifiedDiff } from "./unified.ts";
export {
  isTicketClosed,
  listTicketChanges,
  readTicket,
  readTicketFields,
  readTicketFieldsDate,
  readTicketRef,
  resolveTicket,
  type TicketFields,
} from "./tickets.ts";
export {
  listTickets,
  type TicketListOptions,
  type TicketOrder,
  ticketsFreedBy,
} from "./ticket_lists.ts";
export {
  type ActivityOptions,
  readActivity,
  readTimeline,
  type TimelineOptions,
} from "./timeline.ts";
export { readTree, type TreeOptions } from "./tree.ts";
export {
  copyUnversioned,
  findUnversioned,
  listUnversioned,
  readUnversioned,
} from "./unversioned.ts";
export { findReferences, type Reference } from "./references.ts";
export {
  listWikiPages,
  readLatestWikiVersion,
  readWikiDiff,
  readWikiHistory,
  readWikiPage,
  type WikiDiffOptions,
  type WikiListOptions,
} from "./wiki.ts";
