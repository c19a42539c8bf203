import type { FossilErrorCode } from "../error.ts";
import type { NewRepositoryOptions } from "../repository.ts";
import type { HashMemory } from "./hash_protocol.ts";
import type { ImportOptions } from "./import.ts";
import type { OperationName } from "./operations.ts";
import type { Parcel } from "./parcel.ts";

/** The first message to a worker. */
export interface StartRequest {
  readonly kind: "start";
  /** One Int32: not 0 while the running job is to end. */
  readonly interrupt: SharedArrayBuffer;
  readonly settings: WorkerSettings;
}

/** How a worker treats its repositories. */
export interface WorkerSettings {
  /** Repositories that one worker keeps open; the one that was not used for longest is closed. */
  readonly maxOpen: number;
  /** A repository is closed when it was not used for as long, in milliseconds. */
  readonly idleMs: number;
  /**
   * So long after the last write the log is moved into the file, in milliseconds: for whoever copies
   * or clones the file alone.
   */
  readonly settleMs: number;
  /** Bytes of artifacts that each open repository keeps in memory. */
  readonly cacheBytes: number;
}

/** What a worker is asked for, one thing at a time. */
export type JobRequest =
  | {
    readonly kind: "run";
    readonly path: string;
    readonly operation: OperationName;
    readonly input: unknown;
    /** Whether the result is wanted as JSON, to be sent on and not read. */
    readonly asJson: boolean;
    /** How long it may take, in milliseconds; null for as long as it needs. */
    readonly limitMs: number | null;
    /** Whether messages of progress are wanted. */
    readonly wantsProgress: boolean;
    /** A thread that hashes; null if none is needed. */
    readonly hashing: HashMemory | null;
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
  | { readonly kind: "close"; readonly path: string }
  /** Closes all repositories: the last thing that a worker is asked for. */
  | { readonly kind: "end" };

/** What a worker answers: any number of `progress`, then one of the others. */
export type JobResponse =
  | { readonly kind: "progress"; readonly done: number; readonly total: number | null }
  | { readonly kind: "done"; readonly parcel: Parcel }
  | { readonly kind: "interrupted" }
  | { readonly kind: "refused"; readonly code: FossilErrorCode; readonly message: string }
  /** Neither the engine nor the disk said so: a bug. */
  | { readonly kind: "broken"; readonly message: string; readonly stack: string };
