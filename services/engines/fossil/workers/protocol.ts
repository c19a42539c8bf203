import type { NewRepositoryOptions } from "../repository.ts";
import type { Failure } from "./failures.ts";
import type { ImportOptions } from "./import.ts";
import type { OperationName } from "./operation_names.ts";
import type { Parcel } from "./parcel.ts";

/** What a worker is set up with. */
export interface WorkerSetup {
  readonly settings: WorkerSettings;
  /** How much lower the thread's priority is than the main thread's; null for the usual. */
  readonly nicer: number | null;
}

/** Settings of a worker for its repositories. */
export interface WorkerSettings {
  /** Most open repositories of one worker; the least recently used one is closed. */
  readonly maxOpen: number;
  /** Idle time after which a repository is closed, in milliseconds. */
  readonly idleMs: number;
  /**
   * Time after the last write at which the log moves into the file, in milliseconds: for programs
   * that copy or clone the file alone.
   */
  readonly settleMs: number;
  /** Most bytes of artifacts that each open repository caches. */
  readonly cacheBytes: number;
  /** Bytes that all of them cache together, about; beyond, the least recently used are closed. */
  readonly maxCachedBytes: number;
  /**
   * Bytes that SQLite may use in the whole process, about; null for no limit, where others than the
   * worker use it too.
   */
  readonly sqliteBytes: number | null;
}

/** A job of a worker; it gets one at a time. */
export type JobRequest =
  | {
    readonly kind: "run";
    readonly path: string;
    readonly operation: OperationName;
    readonly input: unknown;
    /** Whether the caller wants the result as JSON, to forward it unread. */
    readonly asJson: boolean;
    /** Time limit in milliseconds; null for none. */
    readonly limitMs: number | null;
    /** Whether the caller wants progress messages. */
    readonly wantsProgress: boolean;
  }
  | {
    readonly kind: "import";
    readonly path: string;
    readonly options: ImportOptions;
    readonly wantsProgress: boolean;
  }
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "create"; readonly path: string; readonly options: NewRepositoryOptions }
  | { readonly kind: "backup"; readonly path: string; readonly target: string }
  /** Copies the repository and its objects, while others use them. */
  | { readonly kind: "snapshot"; readonly path: string; readonly target: string }
  | { readonly kind: "close"; readonly path: string }
  /** Closes half of the open repositories, and keeps as few open from then on. */
  | { readonly kind: "openFewer" }
  /** Closes all repositories: the last job of a worker. */
  | { readonly kind: "end" };

/** How far a job is; the total is null while unknown. */
export type JobProgress = readonly [done: number, total: number | null];

/** The answer to a job. */
export type JobAnswer = { readonly kind: "done"; readonly parcel: Parcel } | Failure;
