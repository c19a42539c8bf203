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
  "newestBranches",
  "contributions",
  "users",
  "mainBranch",
  "lines",
  "branchTip",
  "mergesOf",
  "tags",
  "newestTags",
  "unversionedFiles",
  "findUnversioned",
  "wikiPages",
  "wikiPage",
  "wikiDiff",
  "latestWikiVersion",
  "wikiHistory",
  "tickets",
  "ticket",
  "ticketItself",
  "resolveTicket",
  "ticketsFreedBy",
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
  "gitFetch",
  "gitSizes",
  "gitHaves",
  "gitCommits",
  "gitSignatures",
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
  "unpackShortPush",
  "receivePush",
  "rehearsePush",
  "storeRehearsed",
  "verify",
  "rebuild",
] as const;

export type ReadName = (typeof READ_NAMES)[number];
export type WriteName = (typeof WRITE_NAMES)[number];
export type WholeName = (typeof WHOLE_NAMES)[number];
export type OperationName = ReadName | WriteName | "writeTogether" | WholeName;

/** {@link READ_NAMES}, to look one up. */
export const READS: ReadonlySet<string> = new Set(READ_NAMES);

/**
 * What can be made once more, though nobody knows how far it came: it only reads, fills a file of its own,
 * or finds that it is done.
 */
export const REPEATABLE: ReadonlySet<string> = new Set<OperationName>([
  ...READ_NAMES,
  "updateIndex",
  "search",
  "searchEach",
  "sync",
  "syncCodes",
  "cloneState",
  "nameOfFile",
  "archive",
  "exportGit",
  "unpackPush",
  "unpackShortPush",
  "storeRehearsed",
  "verify",
]);

/**
 * The workers on the side: those that answer in steps of a few milliseconds, those for reads that
 * compute for longer, and those for what has no limit; "rehearsals" write what takes long into copies
 * of repositories. Nothing of one waits for another.
 */
export const SIDES = ["quick", "heavy", "unlimited", "imports", "rehearsals"] as const;

export type Side = (typeof SIDES)[number];

/**
 * Operations that may take long, and the worker on the side that does them. Reads that kept other
 * calls waiting go to "heavy", imports to workers of their own. Several may write the search index;
 * SQLite's lock keeps them apart.
 */
export const SIDE: ReadonlyMap<OperationName, Side> = new Map<OperationName, Side>([
  ["search", "quick"],
  ["searchEach", "quick"],
  ["sync", "quick"],
  ["syncCodes", "quick"],
  ["nameOfFile", "quick"],
  ["blame", "heavy"],
  ["archive", "heavy"],
  ["copyUnversioned", "heavy"],
  ["cloneState", "heavy"],
  ["updateIndex", "unlimited"],
  ["exportGit", "unlimited"],
  ["prepareClones", "unlimited"],
  ["gitPack", "unlimited"],
  ["unpackPush", "quick"],
  ["rehearsePush", "rehearsals"],
  ["storeCloned", "unlimited"],
  ["verify", "unlimited"],
]);

/**
 * Where operations go on, from their beginning, once they have kept others waiting. What has no limit
 * leaves the place of blames.
 */
export const NEXT_SIDE: ReadonlyMap<OperationName, Side> = new Map<OperationName, Side>([
  ...READ_NAMES.map((name) => [name, "heavy"] as const),
  ["archive", "unlimited"],
  ["copyUnversioned", "unlimited"],
  ["cloneState", "unlimited"],
  ["unpackPush", "unlimited"],
]);
