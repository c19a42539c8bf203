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
export const SIDES = ["search", "long", "files", "sync", "heavy", "import"] as const;

export type Side = (typeof SIDES)[number];

/**
 * How many workers each side has; each is started on demand. Sync has two, so that one long answer
 * does not delay the clients of other projects. Imports follow one another. Blames, and reads that kept other calls waiting, go to
 * "heavy"; one of its two workers at most has those of a repository, which remembers what it compared.
 */
export const WORKERS_ON_THE_SIDE: Readonly<Record<Side, number>> = {
  search: 1,
  long: 1,
  files: 1,
  sync: 2,
  heavy: 2,
  import: 1,
};

/**
 * Operations that only read and may take long, and the worker on the side that does them. Both may
 * write the search index; SQLite's lock keeps them apart.
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
  ["unpackPush", "heavy"],
  ["verify", "long"],
  ["cloneState", "long"],
  ["storeCloned", "long"],
  ["copyUnversioned", "files"],
  ["nameOfFile", "files"],
  ["sync", "sync"],
  ["syncCodes", "sync"],
]);
