import { WorkerPool } from "../../../kernel/worker_pool.ts";
import { longestFor } from "../computing_time.ts";
import { FossilError } from "../error.ts";
import { unpack } from "./parcel.ts";
import { READS } from "./operation_names.ts";
import type {
  JobAnswer,
  JobProgress,
  JobRequest,
  WorkerSettings,
  WorkerSetup,
} from "./protocol.ts";

/** Options of any call. */
export interface CallOptions {
  /**
   * Cancels the call. A waiting call is dropped; a running one ends at its next check. A call that
   * finishes before the check returns its result.
   */
  readonly signal?: AbortSignal;
  /** Called from time to time with the progress of a long call; the total is null while unknown. */
  readonly onProgress?: (done: number, total: number | null) => void;
}

/** Options of a lane. */
export interface LaneOptions {
  readonly settings: WorkerSettings;
  /** Most waiting jobs of one repository. */
  readonly maxQueued: number;
  /** Time for a job to end after its limit, before its worker is terminated. */
  readonly graceMs: number;
  /** Starts a worker that runs `repository_worker.ts`. */
  readonly startWorker: () => Worker;
  /** How much lower the worker's priority is than the main thread's; absent for the usual. */
  readonly nicer?: number;
  /** Time for the running job to end when the lane is closed, before its worker is terminated. */
  readonly closeMs: number;
  /** Called when a worker is terminated because a call has not ended in time. */
  readonly onStuck?: (call: StuckCall) => void;
}

/** A call that has not ended in time. */
export interface StuckCall {
  /** Path of the repository. */
  readonly path: string;
  readonly operation: string;
  /** How long it ran, in milliseconds. */
  readonly ms: number;
}

/** How long a job that may move keeps others waiting, in milliseconds. */
const PATIENCE_MS = 100;

/** Runs a job that kept others waiting anew, in another lane. */
type Move = () => Promise<unknown>;

/** What becomes of a job, here or in another lane. */
type Outcome = JobAnswer | { readonly kind: "moved"; readonly result: unknown };

/**
 * One worker, started on demand, and the jobs of the repositories pinned to it. The worker has one
 * job at a time; repositories take turns. A job that may move is interrupted once it has kept others
 * waiting for a while. If the worker ends, so does its job alone: those that wait run in the next
 * one.
 */
export class Lane {
  readonly #options: LaneOptions;
  /** By the path of the repository. */
  readonly #pool: WorkerPool<JobRequest, Outcome>;
  #isClosed = false;

  constructor(options: LaneOptions) {
    const { startWorker, settings, nicer = null, maxQueued, onStuck } = options;
    this.#options = options;
    this.#pool = new WorkerPool({
      start: startWorker,
      setup: { settings, nicer } satisfies WorkerSetup,
      maxWaitingPerKey: maxQueued,
      patienceMs: PATIENCE_MS,
      full: (path) => unavailable(`Too much is asked of "${path}" at the moment`),
      lost: (reason, request) => unavailable(lossOf(request, reason)),
      unusable: (reason) => unavailable(`The worker of the repository has ended: ${reason}`),
      closed: () => unavailable("Repositories are closed"),
      onStuck: (request, path, ms) => {
        const operation = request.kind === "run" ? request.operation : request.kind;
        onStuck?.({ path, operation, ms });
      },
    });
  }

  /** The number of waiting jobs, and whether one runs. */
  get load(): { readonly queued: number; readonly running: boolean } {
    const { queued, running } = this.#pool.load;
    return { queued, running: running > 0 };
  }

  /** Whether jobs of a repository run or wait. */
  has(path: string): boolean {
    return this.#pool.has(path);
  }

  /**
   * Runs a job in the worker and returns its result.
   *
   * @param path the repository whose queue it joins.
   * @param move runs the job elsewhere, if it only reads; absent for a job that must end here.
   * @throws {FossilError} `unavailable` if the queue is full, or the worker ends while it runs this
   * job; otherwise the errors of the engine; the signal's reason if the caller cancelled.
   */
  async submit(
    path: string,
    request: JobRequest,
    { signal, onProgress }: CallOptions = {},
    move: Move | null = null,
  ): Promise<unknown> {
    const limitMs = request.kind === "run" ? request.limitMs : null;
    const outcome = await this.#pool.call(request, {
      key: path,
      signal,
      limitMs: limitMs === null ? null : longestFor(limitMs) + this.#options.graceMs,
      onProgress: (progress) => onProgress?.(...progress as JobProgress),
      move: move === null ? null : async () => ({ kind: "moved", result: await move() }),
    });
    return resultOf(outcome);
  }

  /** Closes a repository after the earlier jobs, if the worker may have it open. */
  async forget(path: string): Promise<void> {
    if (!this.#pool.isStarted || this.#isClosed) return;
    await this.submit(path, { kind: "close", path });
  }

  /** Closes half of the open repositories after the earlier jobs, and keeps as few open. */
  openFewer(): void {
    if (!this.#pool.isStarted || this.#isClosed) return;
    // A worker that ends meanwhile has no repositories open.
    this.submit("", { kind: "openFewer" }).catch(() => {});
  }

  /**
   * Ends the worker. Refuses waiting jobs. The running one finishes, or ends at its next check, or
   * ends with the worker if it takes too long.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.closeAfter({ kind: "end" }, this.#options.closeMs);
  }
}

/** @throws what the job ended with */
function resultOf(outcome: Outcome): unknown {
  switch (outcome.kind) {
    case "done":
      return unpack(outcome.parcel);
    case "moved":
      return outcome.result;
    case "refused":
      throw new FossilError(outcome.code, outcome.message);
    case "broken": {
      const error = new Error(outcome.message);
      error.stack = outcome.stack;
      throw error;
    }
  }
}

/** What the end of a worker means for the job that it ran. */
function lossOf(request: JobRequest, reason: string): string {
  const ended = `The worker of the repository has ended: ${reason}`;
  const isRead = request.kind === "run" && READS.has(request.operation);
  return isRead ? ended : `${ended}. The change may have been made: look before you repeat it`;
}

function unavailable(message: string): FossilError {
  return new FossilError("unavailable", message);
}
