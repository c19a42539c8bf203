import { longestFor } from "../computing_time.ts";
import { FossilError } from "../error.ts";
import { unpack } from "./parcel.ts";
import { READS } from "./operation_names.ts";
import type { JobRequest, JobResponse, StartRequest, WorkerSettings } from "./protocol.ts";
import { Watchdog } from "../../kernel/watchdog.ts";

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

interface Job extends CallOptions {
  readonly request: JobRequest;
  readonly limitMs: number | null;
  /** Null if it must end here. */
  readonly move: Move | null;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  onAbort(): void;
}

/** The job that the worker runs. */
interface Running {
  readonly job: Job;
  readonly path: string;
  /** By `performance.now()`. */
  readonly since: number;
  readonly watchdog: Watchdog | null;
  /** Ends the patience of the jobs that wait; null while there are none. */
  patience: ReturnType<typeof setTimeout> | null;
  /** Whether it is interrupted so that it moves. */
  isMoving: boolean;
}

/**
 * One worker, started on demand, and the jobs of the repositories pinned to it. The worker has one
 * job at a time; repositories take turns. A job that may move is interrupted once it has kept others
 * waiting for a while. If the worker ends, so does its job alone: those that wait run in the next
 * one.
 */
export class Lane {
  readonly #options: LaneOptions;
  readonly #queues = new Map<string, Job[]>();
  readonly #interrupt = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #worker: Worker | null = null;
  #running: Running | null = null;
  #isClosed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** The number of waiting jobs, and whether one runs. */
  get load(): { readonly queued: number; readonly running: boolean } {
    const queued = [...this.#queues.values()].reduce((sum, jobs) => sum + jobs.length, 0);
    return { queued, running: this.#running !== null };
  }

  /** Whether jobs of a repository run or wait. */
  has(path: string): boolean {
    return this.#running?.path === path || this.#queues.has(path);
  }

  /**
   * Runs a job in the worker and returns its result.
   *
   * @param path the repository whose queue it joins.
   * @param move runs the job elsewhere, if it only reads; absent for a job that must end here.
   * @throws {FossilError} `unavailable` if the queue is full, or the worker ends while it runs this
   * job; otherwise the errors of the engine; the signal's reason if the caller cancelled.
   */
  submit(
    path: string,
    request: JobRequest,
    options: CallOptions = {},
    move: Move | null = null,
  ): Promise<unknown> {
    const { signal } = options;
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const queue = this.#queues.get(path) ?? [];
    if (this.#isClosed) return Promise.reject(unavailable("Repositories are closed"));
    if (queue.length >= this.#options.maxQueued) {
      return Promise.reject(unavailable(`Too much is asked of "${path}" at the moment`));
    }
    return new Promise((resolve, reject) => {
      const limitMs = request.kind === "run" ? request.limitMs : null;
      const onAbort = () => this.#giveUp(path, job);
      const job: Job = { ...options, request, limitMs, move, resolve, reject, onAbort };
      signal?.addEventListener("abort", onAbort, { once: true });
      queue.push(job);
      this.#queues.set(path, queue);
      this.#advance();
    });
  }

  /** Closes a repository after the earlier jobs, if the worker may have it open. */
  async forget(path: string): Promise<void> {
    if (this.#worker === null || this.#isClosed) return;
    await this.submit(path, { kind: "close", path });
  }

  /** Closes half of the open repositories after the earlier jobs, and keeps as few open. */
  openFewer(): void {
    if (this.#worker === null || this.#isClosed) return;
    // A worker that ends meanwhile has no repositories open.
    this.submit("", { kind: "openFewer" }).catch(() => {});
  }

  /**
   * Ends the worker. Refuses waiting jobs. The running one finishes, or ends at its next check, or
   * ends with the worker if it takes too long.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#refuseAll(unavailable("Repositories are closed"));
    Atomics.store(this.#interrupt, 0, 1);
    if (this.#worker === null) return;
    const ended = new Promise<unknown>((resolve, reject) => {
      const request: JobRequest = { kind: "end" };
      const job = { request, limitMs: 0, move: null, resolve, reject, onAbort: () => {} };
      this.#queues.set("", [job]);
      this.#advance();
    });
    const watchdog = new Watchdog(this.#options.closeMs, () => this.#fail("It is closed"));
    await ended.catch(() => {});
    watchdog.stop();
    this.#worker?.terminate();
    this.#worker = null;
  }

  #advance(): void {
    if (this.#running !== null) return this.#losePatience(this.#running);
    const next = this.#queues.entries().next();
    if (next.done === true) return;
    const [path, queue] = next.value;
    const job = queue.shift();
    this.#queues.delete(path);
    if (queue.length > 0) this.#queues.set(path, queue);
    if (job === undefined) return;
    const watchdog = this.#watchdogOf(path, job);
    const since = performance.now();
    this.#running = { job, path, since, watchdog, patience: null, isMoving: false };
    if (!this.#isClosed) Atomics.store(this.#interrupt, 0, 0);
    try {
      this.#start().postMessage(job.request);
    } catch (error) {
      // The input cannot be sent to a worker.
      this.#finish();
      job.reject(error);
      return this.#advance();
    }
    this.#losePatience(this.#running);
  }

  #watchdogOf(path: string, { limitMs, request }: Job): Watchdog | null {
    if (limitMs === null) return null;
    const ms = longestFor(limitMs) + this.#options.graceMs;
    const operation = request.kind === "run" ? request.operation : request.kind;
    return new Watchdog(ms, () => {
      this.#options.onStuck?.({ path, operation, ms });
      this.#fail("It does not answer");
    });
  }

  /** Has the running job move once its time is up, if it may and others wait. */
  #losePatience(running: Running): void {
    if (running.job.move === null || running.patience !== null || this.#queues.size === 0) return;
    const left = running.since + PATIENCE_MS - performance.now();
    running.patience = setTimeout(() => {
      running.patience = null;
      if (this.#queues.size === 0) return;
      running.isMoving = true;
      Atomics.store(this.#interrupt, 0, 1);
    }, Math.max(0, left));
  }

  #start(): Worker {
    if (this.#worker !== null) return this.#worker;
    const { startWorker, settings, nicer } = this.#options;
    const worker = startWorker();
    worker.onmessage = ({ data }: MessageEvent<JobResponse>) => this.#receive(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message);
    };
    const interrupt = this.#interrupt.buffer;
    const request: StartRequest = {
      kind: "start",
      interrupt,
      settings,
      ...nicer === undefined ? {} : { nicer },
    };
    worker.postMessage(request);
    this.#worker = worker;
    return worker;
  }

  #receive(response: JobResponse): void {
    if (response.kind === "progress") {
      this.#running?.job.onProgress?.(response.done, response.total);
      return;
    }
    const finished = this.#finish();
    this.#advance();
    if (finished === null) return;
    const { job, isMoving } = finished;
    switch (response.kind) {
      case "done":
        return job.resolve(unpack(response.parcel));
      case "interrupted":
        if (job.signal?.aborted === true) return job.reject(job.signal.reason);
        if (!isMoving || job.move === null || this.#isClosed) {
          return job.reject(unavailable("Repositories are closed"));
        }
        return void job.move().then(job.resolve, job.reject);
      case "refused":
        return job.reject(new FossilError(response.code, response.message));
      case "broken": {
        const error = new Error(response.message);
        error.stack = response.stack;
        return job.reject(error);
      }
    }
  }

  #finish(): Running | null {
    const running = this.#running;
    if (running === null) return null;
    this.#running = null;
    const { job, watchdog, patience } = running;
    watchdog?.stop();
    if (patience !== null) clearTimeout(patience);
    job.signal?.removeEventListener("abort", job.onAbort);
    return running;
  }

  #giveUp(path: string, job: Job): void {
    if (job === this.#running?.job) {
      Atomics.store(this.#interrupt, 0, 1);
      return;
    }
    const rest = (this.#queues.get(path) ?? []).filter((other) => other !== job);
    if (rest.length > 0) this.#queues.set(path, rest);
    else this.#queues.delete(path);
    job.reject(job.signal?.reason);
  }

  /** The worker itself failed, and with it the running job. Those that wait get a new worker. */
  #fail(reason: string): void {
    this.#worker?.terminate();
    this.#worker = null;
    const job = this.#finish()?.job;
    if (job !== undefined) job.reject(unavailable(lossOf(job.request, reason)));
    if (this.#isClosed) this.#refuseAll(unavailable("Repositories are closed"));
    else this.#advance();
  }

  #refuseAll(error: FossilError): void {
    for (const job of [...this.#queues.values()].flat()) {
      job.signal?.removeEventListener("abort", job.onAbort);
      job.reject(error);
    }
    this.#queues.clear();
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
