/**
 * The operations of a worker on a repository: the engine's functions by name, each with one
 * argument that can be sent to a worker. The asynchronous interface takes its names and types from
 * here.
 */
import {
  addUser,
  type Examination,
  mainBranch,
  type NewUser,
  type Progress,
} from "../content/mod.ts";
import {
  collectAll,
  exportGit,
  type GitExportOptions,
  type GitExportReport,
  type GitPush,
  type GitPushReport,
  receivePush,
  type RehearsedPush,
  rehearsePush,
  type SentPack,
  storeRehearsed,
  type UnpackedPush,
  unpackPush,
  unpackShortPush,
} from "../git/mod.ts";
import {
  type MergeSides,
  type NewMerge,
  type NewPick,
  type PickSides,
  previewMerge,
  previewPick,
  writeMerge,
  writePick,
} from "../merge/mod.ts";
import {
  type ActivityOptions,
  type ArchiveOptions,
  type ArchiveReport,
  type BlameOptions,
  type ComparisonOptions,
  copyUnversioned,
  type DiffOptions,
  type FileLineOptions,
  type FileOptions,
  findReferences,
  findUnversioned,
  type HistoryOptions,
  isTicketClosed,
  type LineOptions,
  type LinePlaceOptions,
  listAttachments,
  listBranches,
  listForumThreads,
  listTags,
  listTechnotes,
  listTicketChanges,
  listTickets,
  listUnversioned,
  listWikiPages,
  newestBranches,
  newestTags,
  type Paging,
  readActivity,
  readArchive,
  readAttachment,
  readBlame,
  readBranchTip,
  readCheckin,
  readComparison,
  readContributions,
  readDiff,
  readFile,
  readFileLines,
  readForumPost,
  readForumThread,
  readHistory,
  readLatestWikiVersion,
  readLinePlaces,
  readLines,
  readMergesOf,
  readOpenWork,
  readReceived,
  readStatistics,
  readTechnote,
  readTicket,
  readTicketFields,
  readTicketFieldsDate,
  readTimeline,
  readTree,
  readUsers,
  readWikiDiff,
  readWikiHistory,
  readWikiPage,
  type ReceivedOptions,
  resolveArtifact,
  resolveCheckin,
  resolveTicket,
  type TicketListOptions,
  ticketsFreedBy,
  type TimelineOptions,
  type TreeOptions,
  type UsersOptions,
  type WikiDiffOptions,
  type WikiListOptions,
} from "../read/mod.ts";
import type { Repository } from "../repository.ts";
import type { SearchKind, SearchOptions } from "../search/mod.ts";
import {
  answerSync,
  type ClonedMessage,
  cloneStateOf,
  type PulledMessage,
  readSyncCodes,
  storeCloned,
  storePulled,
  type SyncRequest,
} from "../sync/mod.ts";
import {
  addTicketField,
  amendCheckin,
  type Amendment,
  type Author,
  type BranchMove,
  closeTicket,
  moveToBranch,
  nameOfFile,
  type NewAttachment,
  type NewBranch,
  type NewCheckin,
  type NewForumPost,
  type NewRelease,
  type NewTechnote,
  type NewTicketChange,
  type NewTicketField,
  type NewUnversioned,
  type NewWiki,
  removeTicketField,
  removeUnversioned,
  type TagChange,
  writeAttachment,
  writeBranch,
  writeCheckin,
  writeClusters,
  writeForumPost,
  writeRelease,
  writeTags,
  writeTechnote,
  writeTicketChange,
  writeUnversioned,
  writeWiki,
} from "../write/mod.ts";
import type { FetchRequest } from "../../git/mod.ts";
import {
  answerFetch,
  commitsOf,
  havesOf,
  type PackReport,
  type PackTarget,
  type PackTime,
  prepareClones,
  readGitRefs,
  signaturesOf,
  sizesOf,
  writeFetched,
} from "../git/door/mod.ts";
import type { Context } from "./context.ts";
import { HashHelper } from "./hash_protocol.ts";
import type { ReadName, WholeName, WriteName } from "./operation_names.ts";
import type { Watch } from "./watch.ts";
import { loadSha3 } from "../codec/mod.ts";
import { saveTechnote, saveTicket, saveWiki } from "./saves.ts";
import { SharedHashCheck } from "./shared_hash_check.ts";
import { type JoinedWrites, writeTogether } from "./together.ts";

/** The length of a file that is worth a collection of garbage, in bytes. */
const LARGE_BYTES = 16 * 1024 * 1024;

/** Reads that a person waits for. */
export const READS = {
  timeline: ({ reader }: Context, options: TimelineOptions) => readTimeline(reader, options),
  activity: ({ reader }: Context, options: ActivityOptions) => readActivity(reader, options),
  checkin: ({ reader }: Context, name: string) => readCheckin(reader, name),
  tree: ({ reader }: Context, options: TreeOptions) => readTree(reader, options),
  fileLines: ({ reader }: Context, options: FileLineOptions) => readFileLines(reader, options),
  file: ({ reader }: Context, options: FileOptions) => readFile(reader, options),
  history: ({ reader }: Context, options: HistoryOptions) => readHistory(reader, options),
  blame: ({ reader }: Context, options: BlameOptions) => readBlame(reader, options),
  diff: ({ reader }: Context, options: DiffOptions) => readDiff(reader, options),
  linePlaces: ({ reader }: Context, options: LinePlaceOptions) => readLinePlaces(reader, options),
  comparison: ({ reader }: Context, options: ComparisonOptions) => readComparison(reader, options),
  branches: ({ reader }: Context) => listBranches(reader),
  newestBranches: ({ reader }: Context, asked: { most: number; isDiverged: boolean }) =>
    newestBranches(reader, asked),
  contributions: ({ reader }: Context) => readContributions(reader),
  /** Whose work is between two check-ins. */
  users: ({ reader }: Context, options: UsersOptions) => readUsers(reader, options),
  mainBranch: ({ repository }: Context) => repository.read(() => mainBranch(repository)),
  /** Lines of check-ins, each from its start. */
  lines: ({ reader }: Context, lines: readonly LineOptions[]) => readLines(reader, lines),
  /** The newest open leaf of a branch; null if it has none. */
  versions: ({ reader }: Context) => reader.versions(),
  branchTip: ({ reader }: Context, branch: string) => readBranchTip(reader, branch),
  /** The check-ins that merge a check-in, oldest first. */
  mergesOf: ({ reader }: Context, checkin: string) => readMergesOf(reader, checkin),
  tags: ({ reader }: Context) => listTags(reader),
  newestTags: ({ reader }: Context, most: number) => newestTags(reader, most),
  /** The unversioned files whose names begin with a prefix. */
  unversionedFiles: ({ reader }: Context, prefix: string) => listUnversioned(reader, prefix),
  /** Those of the unversioned files that are there. */
  findUnversioned: ({ reader }: Context, names: readonly string[]) =>
    findUnversioned(reader, names),
  wikiPages: ({ reader }: Context, options: WikiListOptions) => listWikiPages(reader, options),
  wikiPage: ({ reader }: Context, { name, version }: { name: string; version?: string }) =>
    readWikiPage(reader, name, version),
  wikiDiff: ({ reader }: Context, options: WikiDiffOptions) => readWikiDiff(reader, options),
  latestWikiVersion: ({ reader }: Context, name: string) => readLatestWikiVersion(reader, name),
  wikiHistory: ({ reader }: Context, name: string) => readWikiHistory(reader, name),
  tickets: ({ reader }: Context, options: TicketListOptions) => listTickets(reader, options),
  ticketItself: ({ reader }: Context, id: string) => readTicket(reader, id, false),
  ticket: ({ reader }: Context, id: string) => readTicket(reader, id),
  /** The ticket that an id or a prefix stands for, in one line. */
  resolveTicket: ({ reader }: Context, id: string) => resolveTicket(reader, id),
  /** The tickets that wait no more since a ticket, by its whole id, is closed. */
  ticketsFreedBy: ({ reader }: Context, id: string) => ticketsFreedBy(reader, id),
  /** Whether a ticket, by its whole id, is closed. */
  isTicketClosed: ({ reader }: Context, id: string) => isTicketClosed(reader, id),
  ticketChanges: ({ reader }: Context, options: Paging & { readonly id: string }) =>
    listTicketChanges(reader, options),
  /** The fields that its tickets have. */
  ticketFields: ({ reader }: Context) => readTicketFields(reader),
  ticketFieldsDate: ({ reader }: Context) => readTicketFieldsDate(reader),
  technotes: ({ reader }: Context, paging: Paging) => listTechnotes(reader, paging),
  technote: ({ reader }: Context, { id, version }: { id: string; version?: string }) =>
    readTechnote(reader, id, version),
  forumThreads: ({ reader }: Context, paging: Paging) => listForumThreads(reader, paging),
  /** A page of a thread, with the fields of an answer with pages: its text may be long. */
  forumThread: (
    { reader }: Context,
    { uuid, post, page, per_page }: {
      readonly uuid: string;
      readonly post?: string | undefined;
      readonly page: number;
      readonly per_page: number;
    },
  ) => {
    const part = { post, limit: per_page, offset: (page - 1) * per_page };
    const thread = readForumThread(reader, uuid, part);
    const total_pages = Math.max(1, Math.ceil(thread.total / per_page));
    return { ...thread, page, per_page, total_pages };
  },
  forumPost: ({ reader }: Context, uuid: string) => readForumPost(reader, uuid),
  attachments: ({ reader }: Context, target: string) => listAttachments(reader, target),
  attachment: ({ reader }: Context, which: { target: string; name: string }) =>
    readAttachment(reader, which),
  /** Which of the names in a text stand for a page, a check-in or a ticket. */
  references: ({ reader }: Context, names: readonly string[]) => findReferences(reader, names),
  /** How many tickets are open, and how many branches are not merged. */
  openWork: ({ reader }: Context) => readOpenWork(reader),
  statistics: ({ reader }: Context) => readStatistics(reader),
  /** What came into the repository since a place, whichever program wrote it. */
  received: ({ reader }: Context, options: ReceivedOptions) => readReceived(reader, options),
  /** The check-in that a name stands for; without a name, the tip of the main branch. */
  resolveCheckin: ({ reader }: Context, name: string | undefined) => resolveCheckin(reader, name),
  /** The artifact of any kind that a name stands for. */
  resolveArtifact: ({ reader }: Context, name: string) => resolveArtifact(reader, name),
  /** Whether two check-ins can be merged, and what would change. */
  previewMerge: ({ repository }: Context, sides: MergeSides) => previewMerge(repository, sides),
  previewPick: ({ repository }: Context, sides: PickSides) => previewPick(repository, sides),
  /** The references that Git sees; null if the objects must be updated first. */
  gitRefs: ({ withCompanion }: Context) => withCompanion(readGitRefs),
  /** What a client of Git lacks, and how it gets it; null if the objects must be updated first. */
  gitFetch: (
    { withCompanion }: Context,
    asked: { readonly request: FetchRequest; readonly pack: PackTime },
  ) => withCompanion((companion) => answerFetch(companion, asked)),
  gitSizes: ({ withCompanion }: Context, names: readonly string[]) =>
    withCompanion((companion) => sizesOf(companion, names)),
  /** Commits to tell another server of; null if the objects must be updated first. */
  gitHaves: ({ withCompanion }: Context, refs: readonly string[]) =>
    withCompanion((companion) => havesOf(companion, refs)),
  /** The signatures of the commits of check-ins by their names; null for one that has none. */
  gitSignatures: ({ withCompanion }: Context, checkins: readonly string[]) =>
    withCompanion((companion) => signaturesOf(companion, checkins)),
  /** The commits of check-ins by their names; null for one that has none. */
  gitCommits: ({ withCompanion }: Context, checkins: readonly string[]) =>
    withCompanion((companion) => commitsOf(companion, checkins)),
} as const satisfies Record<ReadName, unknown>;

/** Writes, which have a generous limit. */
export const WRITES = {
  merge: ({ repository }: Context, merge: NewMerge) => writeMerge(repository, merge),
  pick: ({ repository }: Context, pick: NewPick) => writePick(repository, pick),
  commit: ({ repository }: Context, checkin: NewCheckin) => writeCheckin(repository, checkin),
  startBranch: ({ repository }: Context, branch: NewBranch) => writeBranch(repository, branch),
  changeTags: (
    { repository }: Context,
    changes: Author & { readonly changes: readonly TagChange[] },
  ) => writeTags(repository, changes),
  amend: ({ repository }: Context, amendment: Amendment) => amendCheckin(repository, amendment),
  /** Puts a check-in on the branch that it continues. */
  moveToBranch: ({ repository }: Context, move: BranchMove) => moveToBranch(repository, move),
  changeWiki: ({ repository }: Context, wiki: NewWiki) => writeWiki(repository, wiki),
  changeTicket: ({ repository }: Context, change: NewTicketChange) =>
    writeTicketChange(repository, change),
  saveTicket,
  saveTechnote,
  saveWiki,
  /** Closes a ticket as done; null if there is nothing to close. */
  closeTicket: (
    { repository }: Context,
    closing: Author & { readonly ticket: string },
  ) => closeTicket(repository, closing),
  /** Defines a custom field of tickets, and makes those tickets again that have set it. */
  addTicketField: ({ repository }: Context, field: NewTicketField) =>
    addTicketField(repository, field),
  removeTicketField: ({ repository }: Context, field: Author & { readonly name: string }) =>
    removeTicketField(repository, field),
  changeTechnote: ({ repository }: Context, note: NewTechnote) => writeTechnote(repository, note),
  attach: ({ repository }: Context, attachment: NewAttachment) =>
    writeAttachment(repository, attachment),
  post: ({ repository }: Context, post: NewForumPost) => writeForumPost(repository, post),
  /** Gives a check-in a name; see `writeRelease`. */
  tagCheckin: ({ repository }: Context, release: NewRelease) => writeRelease(repository, release),
  putUnversioned: ({ repository }: Context, file: NewUnversioned) => {
    writeUnversioned(repository, file);
    release(repository, file.source);
  },
  dropUnversioned: (
    { repository }: Context,
    files: Author & { readonly names: readonly string[] },
  ) => removeUnversioned(repository, files),
  /** Adds a user if the login is free; returns whether it was. */
  addUser: ({ repository }: Context, user: NewUser) =>
    repository.write({ user: null, ip: null }, () => addUser(repository.db, user)),
  /** Answers a message of the sync protocol, and stores what it brings. */
  syncChanges: ({ repository, watch }: Context, request: SyncRequest) =>
    answerSync({ repository, check: () => watch.check() }, request),
  /** Stores the answer of an upstream repository to a pull. */
  storePulled: ({ repository, watch }: Context, message: PulledMessage) =>
    storePulled({ repository, check: () => watch.check() }, message),
  /** Writes clusters of the artifacts that are in none, for serving the repository to clients. */
  cluster: ({ repository }: Context) => writeClusters(repository),
} as const satisfies Record<WriteName, unknown>;

/** A write as {@link writeTogether} makes it; the asynchronous interface has checked the types. */
type AnyWrite = (context: Context, input: unknown) => unknown;

/** Several writes, which share a transaction. */
export const TOGETHER = {
  writeTogether: (context: Context, joined: JoinedWrites) =>
    writeTogether(
      context,
      joined,
      ({ operation, input }) => (WRITES[operation] as AnyWrite)(context, input),
    ),
} as const;

/** Operations on a whole repository or a whole check-in, without a time limit. */
export const WHOLE = {
  /** Creates or updates the search index. */
  updateIndex: (context: Context): void => context.index().update(),
  /** Updates the index first, unless that takes long. */
  search: (context: Context, options: SearchOptions) => context.index().search(options),
  /** The same, for each kind by itself. */
  searchEach: (
    context: Context,
    options: SearchOptions & { readonly kinds: readonly SearchKind[] },
  ) => context.index().searchEach(options),
  /** Answers a message of the sync protocol without writing anything. */
  sync: ({ repository, watch }: Context, request: Omit<SyncRequest, "push">) =>
    answerSync({ repository, check: () => watch.check() }, { ...request, push: null }),
  /** Codes by which clients know the repository and its project. */
  syncCodes: ({ repository }: Context) => readSyncCodes(repository),
  /** How far the clone of an upstream repository in a file is. */
  cloneState: (_: Context, path: string) => cloneStateOf(path),
  /** Stores the answer of an upstream repository to a clone in a file of its own. */
  storeCloned: ({ watch }: Context, message: ClonedMessage) =>
    storeCloned(message, () => watch.check()),
  /** Copies an unversioned file to the file `target`. */
  copyUnversioned: (
    { repository, reader }: Context,
    copy: { readonly name: string; readonly target: string },
  ) => {
    const ref = copyUnversioned(reader, copy);
    release(repository, copy.target);
    return ref;
  },
  /** The hash by which the repository names the content of a file. */
  nameOfFile: ({ repository }: Context, source: string) => nameOfFile(repository, source),
  /** Writes an archive of a check-in to the file `target`; returns the unreadable files. */
  archive: (
    { reader, watch }: Context,
    { target, ...options }: ArchiveOptions & { readonly target: string },
  ): ArchiveReport => writeFile(target, readArchive(reader, options), watch),
  /** Writes a stream for `git fast-import` to the file `target`. */
  exportGit: (
    { repository, watch }: Context,
    { target, ...what }: Pick<GitExportOptions, "mainBranch" | "withoutBranches"> & {
      readonly target: string;
    },
  ): GitExportReport => {
    const options: GitExportOptions = {
      ...what,
      progress: ({ commits, total }) => watch.progress(commits, total),
    };
    return writeFile(target, exportGit(repository, options), watch);
  },
  /** Makes the Git objects of what is new, and the pack that clones get. */
  prepareClones: (
    { withCompanion, watch }: Context,
    where: { readonly folder: string; readonly maxKept: number },
  ): void =>
    withCompanion((companion) =>
      prepareClones(companion, where, (bytes) => watch.progress(bytes, null))
    ),
  /** Writes a pack for a client of Git to the file `target`; the progress is its length so far. */
  gitPack: (
    { withCompanion, watch }: Context,
    where: PackTarget,
  ): PackReport => {
    let isBegun = false;
    const progress = (bytes: number) => {
      isBegun = true;
      watch.progress(bytes, null);
    };
    return withCompanion((companion) => writeFetched(companion, where, progress), () => !isBegun);
  },
  /** Unpacks what a client of Git has pushed into a draft. */
  unpackPush: ({ withCompanion, watch }: Context, pack: SentPack): UnpackedPush =>
    withCompanion(
      (companion) => unpackPush(companion, pack, (bytes) => watch.progress(bytes, null)),
      () => false,
    ),
  /** The same in memory, where it is stored; null if that would keep others waiting. */
  unpackShortPush: ({ withCompanion }: Context, pack: SentPack): UnpackedPush | null =>
    withCompanion((companion) => unpackShortPush(companion, pack)),
  /** Stores a push of Git whose objects are in a draft. */
  receivePush: ({ withCompanion, watch }: Context, push: GitPush): GitPushReport =>
    withCompanion((companion) => receivePush(companion, push, watch.progress), () => false),
  /** The same in a copy of the repository, for what would keep others waiting. */
  rehearsePush: ({ withCompanion, watch }: Context, push: GitPush): GitPushReport =>
    withCompanion((companion) => rehearsePush(companion, push, watch.progress), () => false),
  /** Stores what was stored in a copy; returns whether it is, and not outdated. */
  storeRehearsed: (
    { withCompanion }: Context,
    push: RehearsedPush & { readonly mark: string | null },
  ): boolean => withCompanion((companion) => storeRehearsed(companion, push), () => false),
  /** Checks the file, decodes and hashes every artifact; returns damaged and missing content. */
  verify: ({ repository, watch }: Context) => examineRepository(repository, watch.progress),
  rebuild: ({ repository, watch }: Context) => repository.rebuild({ progress: watch.progress }),
} as const satisfies Record<WholeName, unknown>;

/**
 * Frees the memory that the content of a long file took. A prepared statement keeps the last value
 * that was bound to it.
 */
function release({ db }: Repository, path: string): void {
  if (Deno.statSync(path).size < LARGE_BYTES) return;
  db.forgetStatements();
  collectAll();
}

/** Writes the generated bytes to a file; returns the generator's result. */
function writeFile<T>(target: string, chunks: Generator<Uint8Array, T>, watch: Watch): T {
  using file = Deno.openSync(target, { write: true, create: true, truncate: true });
  for (let next = chunks.next();; next = chunks.next()) {
    if (next.done === true) return next.value;
    watch.check();
    for (let written = 0; written < next.value.length;) {
      written += file.writeSync(next.value.subarray(written));
    }
  }
}

export const OPERATIONS = { ...READS, ...WRITES, ...TOGETHER, ...WHOLE } as const;

/** Examines a whole repository, and hashes its artifacts here and in a second thread. */
export async function examineRepository(
  repository: Repository,
  progress: Progress = () => {},
): Promise<Examination> {
  using helper = new HashHelper();
  const hashes = new SharedHashCheck(helper.memory, await loadSha3());
  return repository.examine({ progress, hashes });
}
