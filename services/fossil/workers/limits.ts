import type { CallOptions } from "./lane.ts";
import type { OperationName, OPERATIONS } from "./operations.ts";

/** An operation as the main thread calls it. */
type Call<Operation> = Operation extends (context: never, ...input: infer Input) => infer Result
  ? Input extends readonly [infer Only]
    ? (input: Only, options?: CallOptions) => Promise<Awaited<Result>>
  : (input?: undefined, options?: CallOptions) => Promise<Awaited<Result>>
  : never;

/** Every operation of a worker, asynchronous. */
export type Operations = {
  readonly [Name in OperationName]: Call<(typeof OPERATIONS)[Name]>;
};

/** The same, for JSON (UTF-8) in place of the results: of those that are plain data. */
export type JsonOperations = {
  readonly [Name in OperationName]: (
    ...args: Parameters<Operations[Name]>
  ) => Promise<Uint8Array<ArrayBuffer>>;
};

/** For what a person waits for. */
const READ_MS = 10_000;
/** For what must end some time, however much was given to it. */
const WRITE_MS = 60_000;

/** How long operations may take, in milliseconds; null for as long as they need. */
export type TimeLimits = Readonly<Record<OperationName, number | null>>;

/**
 * How long each operation may take once it runs, in milliseconds; null for as long as it needs. It
 * ends by itself where it looks, and with its worker where it does not look.
 */
export const TIME_LIMITS_MS: TimeLimits = {
  timeline: READ_MS,
  activity: READ_MS,
  checkin: READ_MS,
  tree: READ_MS,
  file: READ_MS,
  history: READ_MS,
  blame: READ_MS,
  diff: READ_MS,
  branches: READ_MS,
  tags: READ_MS,
  wikiPages: READ_MS,
  wikiPage: READ_MS,
  wikiHistory: READ_MS,
  tickets: READ_MS,
  ticket: READ_MS,
  technotes: READ_MS,
  technote: READ_MS,
  forumThreads: READ_MS,
  forumThread: READ_MS,
  attachments: READ_MS,
  attachment: READ_MS,
  statistics: READ_MS,
  search: null,
  resolveCheckin: READ_MS,
  resolveArtifact: READ_MS,
  archive: null,
  previewMerge: READ_MS,
  previewPick: READ_MS,
  merge: WRITE_MS,
  pick: WRITE_MS,
  commit: WRITE_MS,
  startBranch: WRITE_MS,
  changeTags: WRITE_MS,
  amend: WRITE_MS,
  changeWiki: WRITE_MS,
  changeTicket: WRITE_MS,
  changeTechnote: WRITE_MS,
  attach: WRITE_MS,
  post: WRITE_MS,
  addUser: WRITE_MS,
  exportGit: null,
  cluster: WRITE_MS,
  verify: null,
  rebuild: null,
};
