/**
 * The names of the operations, apart from their code (`operations.ts`), which only the workers load.
 */

/** Reads that a person waits for. */
export const READ_NAMES = [
  "versions",
  "timeline",
  "activity",
  "checkin",
  "tree",
  "fileLines",
  "file",
  "history",
  "blame",
  "diff",
  "linePlaces",
  "comparison",
  "branches",
  "divergedBranches",
  "contributions",
  "users",
  "mainBranch",
  "lines",
  "branchTip",
  "mergesOf",
  "tags",
  "unversionedFiles",
  "wikiPages",
  "wikiPage",
  "wikiDiff",
  "latestWikiVersion",
  "wikiHistory",
  "tickets",
  "ticket",
  "ticketItself",
  "resolveTicket",
  "isTicketClosed",
  "ticketChanges",
  "ticketFields",
  "ticketFieldsDate",
  "technotes",
  "technote",
  "forumThreads",
  "forumThread",
  "forumPost",
  "attachments",
  "attachment",
  "references",
  "openWork",
  "statistics",
  "received",
  "resolveCheckin",
  "resolveArtifact",
  "previewMerge",
  "previewPick",
  "gitRefs",
  "gitNegotiation",
  "keptGitPack",
  "gitSizes",
  "gitHaves",
  "gitCommits",
] as const;

/** Writes, which have a generous limit. */
export const WRITE_NAMES = [
  "merge",
  "pick",
  "commit",
  "startBranch",
  "changeTags",
  "amend",
  "moveToBranch",
  "changeWiki",
  "changeTicket",
  "saveTicket",
  "saveTechnote",
  "saveWiki",
  "closeTicket",
  "addTicketField",
  "removeTicketField",
  "changeTechnote",
  "attach",
  "post",
  "tagCheckin",
  "putUnversioned",
  "dropUnversioned",
  "addUser",
  "syncChanges",
  "storePulled",
  "cluster",
] as const;

/** Operations on a whole repository or a whole check-in, without a time limit. */
export const WHOLE_NAMES = [
  "updateIndex",
  "search",
  "searchEach",
  "sync",
  "syncCodes",
  "cloneState",
  "storeCloned",
  "copyUnversioned",
  "nameOfFile",
  "archive",
  "exportGit",
  "prepareClones",
  "gitPack",
  "unpackPush",
  "receivePush",
  "receiveLongPush",
  "verify",
  "rebuild",
] as const;

export type ReadName = (typeof READ_NAMES)[number];
export type WriteName = (typeof WRITE_NAMES)[number];
export type WholeName = (typeof WHOLE_NAMES)[number];
export type OperationName = ReadName | WriteName | "writeTogether" | WholeName;

/** {@link READ_NAMES}, to look one up. */
export const READS: ReadonlySet<string> = new Set(READ_NAMES);

/** The workers on the side; nothing of one waits for another. */
export const SIDES = [
  "search",
  "long",
  "files",
  "sync",
  "heavy",
  "push",
  "longPush",
  "store",
] as const;

export type Side = (typeof SIDES)[number];

/**
 * How many workers each side has; each is started on demand. Sync has two, so that one long answer
 * does not delay the clients of other projects. Blames, and reads that kept other calls waiting, go to
 * "heavy"; one of its two workers at most has those of a repository, which remembers what it compared.
 * A push of Git that keeps others waiting while it is unpacked goes on in "longPush"; "store" has the
 * long ones that hold their project's turn, and imports.
 */
export const WORKERS_ON_THE_SIDE: Readonly<Record<Side, number>> = {
  search: 1,
  long: 1,
  files: 1,
  sync: 2,
  heavy: 2,
  push: 1,
  longPush: 2,
  store: 2,
};

/**
 * Operations that may take long, and the worker on the side that does them. They only read the
 * repository, except for long pushes of Git: SQLite's lock keeps these apart from the repository's own
 * worker, and so does the project's turn.
 */
export const SIDE: ReadonlyMap<OperationName, Side> = new Map<OperationName, Side>([
  ["search", "search"],
  ["searchEach", "search"],
  ["updateIndex", "long"],
  ["blame", "heavy"],
  ["archive", "long"],
  ["exportGit", "long"],
  ["prepareClones", "heavy"],
  ["gitPack", "heavy"],
  ["unpackPush", "push"],
  ["receiveLongPush", "store"],
  ["verify", "long"],
  ["cloneState", "long"],
  ["storeCloned", "long"],
  ["copyUnversioned", "files"],
  ["nameOfFile", "files"],
  ["sync", "sync"],
  ["syncCodes", "sync"],
]);

/**
 * Where operations go on, from their beginning, once they have kept others waiting: reads in "heavy",
 * but what a turn of the project waits for where nothing else is.
 */
export const NEXT_SIDE: ReadonlyMap<OperationName, Side> = new Map<OperationName, Side>([
  ...READ_NAMES.map((name) => [name, "heavy"] as const),
  ["received", "store"],
  ["unpackPush", "longPush"],
]);
