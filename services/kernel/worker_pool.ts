import process from "node:process";
import { Unavailable } from "./errors.ts";
import type { Pausable, Turns } from "./turns.ts";
import { BoundedQueue, type BoundedQueueOptions } from "./bounded_queue.ts";

/** What is used of a worker, which calls `serveCalls`. A process can be one, too. */
export interface WorkerPort
  extends Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror"> {
  /**
   * Tells a worker which call is to end. Only a process has this: it shares no memory, and measures
   * its own processor time.
   */
  cancel?(call: number): void;
  /** Has its call stand still, or go on, at its next look. Only a process has this. */
  pause?(isPaused: boolean): void;
  /** Once it has ended: whether it has got the last message; absent for yes. */
  readonly hasReceived?: boolean;
  /** Once it has ended: whether it has used more than it may; absent for no. */
  readonly isExhausted?: boolean;
}

/** To a worker: once how it is set up, when it is ready, and then one call after the other. */
export type ToWorker =
  | {
    readonly kind: "open";
    readonly setup: unknown;
    /** One Int32: the number of the call that is to end; null if no memory is shared. */
    readonly cancelled: SharedArrayBuffer | null;
  }
  | { readonly kind: "call"; readonly number: number; readonly request: unknown };

/** From a worker: that it is ready; for each call, any number of `progress`, then one of the others. */
export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly progress: unknown }
  | {
    readonly kind: "answer";
    readonly answer: unknown;
    /** The processor time of the call, in milliseconds, if a process with a limit of it has made it. */
    readonly computed?: number;
  }
  /** The call has ended before its end, because it was cancelled. */
  | { readonly kind: "cancelled" }
  /** The worker threw an error: a bug. */
  | { readonly kind: "failed"; readonly message: string };

interface WorkerPoolOptions<Request> {
  /** Starts a worker; throws if none can start. */
  readonly start: () => WorkerPort;
  /** What each worker is set up with; a structured clone of it. */
  readonly setup?: unknown;
  /** Most workers at a time; 1, if absent. Each starts when it is needed. */
  readonly workers?: number;
  /** Most calls that wait, of all keys and of one; without a bound, if absent. */
  readonly maxWaiting?: number;
  readonly maxWaitingPerKey?: number;
  /** Whether the last call of the key with most of them is refused when another key finds no place. */
  readonly displaces?: boolean;
  /** The keys with the least cost come first, and equals take turns. */
  readonly costOf?: (key: string) => number;
  /** How long a call that may move keeps others waiting, in milliseconds. */
  readonly patienceMs?: number;
  /** After what time to give up a worker that is not ready, in milliseconds; a minute, if absent. */
  readonly startMs?: number;
  /** After what time without calls a worker ends, in milliseconds; never, if absent. */
  readonly idleMs?: number;
  /** Where calls of processes take turns with those of other pools; absent if they need not. */
  readonly turns?: Turns | undefined;
  /** Whether a cancelled call ends its worker, which cannot look whether it is cancelled. */
  readonly cancelEnds?: boolean;
  /** Why a call is not made: too many wait. */
  readonly full: (key: string) => Error;
  /** Why a call has no answer: its worker has ended. It may have been carried out. */
  readonly lost: (reason: string, request: Request) => Error;
  /** Whether a call whose worker has ended can be made once more, because it only reads. */
  readonly mayRepeat?: (request: Request) => boolean;
  /** Why a call is not made: workers end before they are ready. */
  readonly unusable: (reason: string) => Error;
  /**
   * Called with the reason when a worker cannot start, or ends before it is ready: at most once a
   * minute.
   */
  readonly onUnusable?: (reason: string) => void;
  /** Why calls are not made any more. */
  readonly closed: () => Error;
  /** Called when a worker is ended because it has not answered in time. */
  readonly onStuck?: (request: Request, key: string, limitMs: number) => void;
  /** Called when a call ends, with its key and how long it had the worker, in milliseconds. */
  readonly onRan?: (key: string, ms: number) => void;
  /**
   * The processor time of this program so far, in milliseconds. If it is given, the limit of a call is
   * of this time: by the clock, it may take 20 seconds longer, because a busy machine has no core for
   * it. Other threads count too, so it may compute for less. A process must have a limit of its own.
   */
  readonly computed?: () => number;
  /** Milliseconds by any clock. */
  readonly now?: () => number;
  /** Runs a task after some milliseconds; returns what cancels it. */
  readonly after?: (ms: number, task: () => void) => () => void;
}

interface WorkerCallOptions<Answer> {
  /** Whose call it is: each key has its own queue. */
  readonly key?: string;
  /**
   * Cancels the call. A waiting one is dropped. A running one ends at its worker's next look, or
   * gives its answer; with `cancelEnds`, it ends at once, with its worker.
   */
  readonly signal?: AbortSignal | undefined;
  /** After what time to end the worker if it has not answered, in milliseconds. */
  readonly limitMs?: number | null;
  /** What belongs to the worker from now on. */
  readonly transfer?: Transferable[];
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  /** Makes the call elsewhere, if it has kept others waiting; null if it must end here. */
  readonly move?: (() => Promise<Answer>) | null;
}

interface Call<Request, Answer> extends WorkerCallOptions<Answer> {
  readonly request: Request;
  readonly key: string;
  /** Whether it is made for the second time: a worker has ended with it. */
  isRepeated: boolean;
  resolve(answer: Answer | Promise<Answer>): void;
  reject(error: unknown): void;
  onAbort(): void;
}

interface RunningCall<Request, Answer> {
  readonly call: Call<Request, Answer>;
  readonly since: number;
  /** The processor time when it began. */
  readonly computed: number;
  cancelLimit: () => void;
  /** Null if it takes no turns. */
  readonly turn: Disposable | null;
  /** Ends the patience of those that wait; null while there are none. */
  patience: ReturnType<typeof setTimeout> | null;
  /** Whether it is cancelled so that it moves. */
  isMoving: boolean;
}

interface PooledWorker<Request, Answer> {
  readonly port: WorkerPort;
  /** Null if it shares no memory. */
  readonly cancelled: Int32Array<SharedArrayBuffer> | null;
  /** How many calls it has got. */
  calls: number;
  isReady: boolean;
  running: RunningCall<Request, Answer> | null;
  /** The last call that it makes, once it has made the present one. */
  last: Call<Request, Answer> | null;
  /** Calls off its end: it is late to be ready, or has been idle for long. */
  cancelEnd: () => void;
}

const START_MS = 60_000;

/** How many workers in succession may end before they are ready until the calls that wait are refused. */
const MAX_FAILED_STARTS = 3;

/** How long the next worker that cannot start is not told of, in milliseconds. */
const TELL_MS = 60_000;

/** How much longer than its processor time a call may take by the clock, in milliseconds. */
const MOST_WAITING_MS = 20_000;

/** Least time between two looks at the processor time of a call, in milliseconds. */
const LOOK_MS = 100;

const NOTHING = () => {};

/**
 * Calls of workers: each worker has one call at a time, the others wait. If a worker ends, or is ended
 * because it does not answer in time, its call alone has no answer: those that wait are made by the
 * next one. So is a call that the worker never got, and one that may be repeated, once.
 */
export class WorkerPool<Request, Answer> {
  readonly #options: WorkerPoolOptions<Request>;
  readonly #maxWorkers: number;
  readonly #bounds: Readonly<Required<BoundedQueueOptions>>;
  readonly #waiting: BoundedQueue<Call<Request, Answer>>;
  readonly #workers = new Set<PooledWorker<Request, Answer>>();
  readonly #now: () => number;
  readonly #after: (ms: number, task: () => void) => () => void;
  /** How many workers have ended before they were ready, since one was. */
  #failedStarts = 0;
  /** When somebody was told last that a worker cannot start. */
  #toldAt = -Infinity;
  #isClosed = false;

  constructor(options: WorkerPoolOptions<Request>) {
    const { workers = 1, maxWaiting: max = Infinity, maxWaitingPerKey: maxPerKey = max } = options;
    this.#options = options;
    this.#maxWorkers = workers;
    this.#bounds = { max, maxPerKey };
    this.#waiting = new BoundedQueue({ max: max + workers, maxPerKey: maxPerKey + workers });
    this.#now = options.now ?? (() => performance.now());
    this.#after = options.after ?? watch;
  }

  /** The calls that workers make, and that wait. */
  get load(): { readonly running: number; readonly queued: number } {
    let running = 0;
    for (const worker of this.#workers) if (worker.running !== null) running++;
    return { running, queued: this.#waiting.size };
  }

  /** Whether there is a worker. */
  get isStarted(): boolean {
    return this.#workers.size > 0;
  }

  /** Whether calls of a key run or wait. */
  has(key: string): boolean {
    return this.#waiting.sizeOf(key) > 0 ||
      this.#workers.values().some(({ running }) => running?.call.key === key);
  }

  /**
   * Makes a call.
   *
   * @throws one of the errors of the pool's options; the signal's reason; what `start` throws; what
   * the request has that cannot be sent
   */
  call(request: Request, options: WorkerCallOptions<Answer> = {}): Promise<Answer> {
    const { signal, key = "" } = options;
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#isClosed) return Promise.reject(this.#options.closed());
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#cancel(call);
      const call: Call<Request, Answer> = {
        ...options,
        request,
        key,
        isRepeated: false,
        resolve,
        reject,
        onAbort,
      };
      if (!this.#enqueue(call)) return reject(this.#options.full(key));
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#advance();
    });
  }

  /** Refuses the waiting calls of a key. */
  refuse(key: string, error: Error): void {
    for (let call = this.#waiting.takeOf(key); call; call = this.#waiting.takeOf(key)) {
      reject(call, error);
    }
  }

  /** Ends the workers at once, and refuses every call. */
  close(): void {
    this.#isClosed = true;
    this.#refuseAll(this.#options.closed());
    for (const worker of this.#workers) {
      const call = this.#remove(worker);
      if (call !== null) reject(call, this.#options.closed());
    }
  }

  /**
   * Refuses waiting calls, and ends each worker after a last call. A running call finishes, or ends at
   * its worker's next look, or with the worker if it takes too long.
   */
  async closeAfter(last: Request, limitMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#refuseAll(this.#options.closed());
    await Promise.all([...this.#workers].map((worker) => this.#end(worker, last, limitMs)));
  }

  async #end(
    worker: PooledWorker<Request, Answer>,
    request: Request,
    limitMs: number,
  ): Promise<void> {
    worker.cancelEnd();
    if (!worker.isReady) return void this.#remove(worker);
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => resolve();
    const call = { request, key: "", isRepeated: true };
    worker.last = { ...call, resolve: end, reject: end, onAbort: NOTHING };
    if (worker.running === null) this.#advanceLast(worker);
    else cancelRunning(worker);
    const cancelLimit = this.#after(limitMs, () => this.#fail(worker, "It is closed"));
    await promise;
    cancelLimit();
    this.#remove(worker);
  }

  #enqueue(call: Call<Request, Answer>): boolean {
    // Those that workers will take once they are ready do not count as waiting.
    const spare = this.#maxWorkers - this.load.running;
    const { max, maxPerKey } = this.#bounds;
    if (this.#waiting.sizeOf(call.key) >= maxPerKey + spare) return false;
    if (this.#waiting.size < max + spare) return this.#waiting.tryAdd(call, call.key);
    if (!this.#options.displaces) return false;
    const displaced = this.#waiting.displaceFor(call.key);
    if (displaced === undefined) return false;
    reject(displaced, this.#options.full(displaced.key));
    return this.#waiting.tryAdd(call, call.key);
  }

  #cancel(call: Call<Request, Answer>): void {
    if (this.#waiting.delete(call, call.key)) return call.reject(call.signal?.reason);
    const worker = this.#workers.values().find(({ running }) => running?.call === call);
    if (worker === undefined) return;
    if (this.#options.cancelEnds !== true) return cancelRunning(worker);
    this.#remove(worker);
    call.reject(call.signal?.reason);
    this.#advance();
  }

  /** Makes the next calls, and starts workers for those that wait on. */
  #advance(): void {
    let starting = 0;
    for (const worker of this.#workers) {
      if (!worker.isReady) starting++;
      else if (worker.running === null) this.#runNext(worker);
    }
    while (this.#waiting.size > starting && this.#workers.size < this.#maxWorkers) {
      if (this.#startWorker()) starting++;
      else if (this.#workers.size > 0) break;
    }
    for (const worker of this.#workers) this.#losePatience(worker);
  }

  #runNext(worker: PooledWorker<Request, Answer>): void {
    worker.cancelEnd();
    for (
      let call = this.#waiting.take(this.#options.costOf);
      call !== undefined;
      call = this.#waiting.take(this.#options.costOf)
    ) {
      if (this.#run(worker, call)) return;
    }
    const { idleMs } = this.#options;
    if (idleMs === 0) this.#remove(worker);
    else if (idleMs !== undefined) {
      worker.cancelEnd = this.#after(idleMs, () => this.#remove(worker));
    }
  }

  /** Returns whether the worker takes the call. */
  #run(worker: PooledWorker<Request, Answer>, call: Call<Request, Answer>): boolean {
    const { request, limitMs = null, transfer = [] } = call;
    const number = ++worker.calls;
    try {
      worker.port.postMessage({ kind: "call", number, request } satisfies ToWorker, transfer);
    } catch (error) {
      reject(call, error);
      return false;
    }
    const running: RunningCall<Request, Answer> = {
      call,
      since: this.#now(),
      computed: this.#options.computed?.() ?? 0,
      cancelLimit: NOTHING,
      turn: this.#turnOf(worker.port),
      patience: null,
      isMoving: false,
    };
    worker.running = running;
    if (limitMs !== null) this.#limit(worker, running, { limitMs, afterMs: limitMs });
    return true;
  }

  #turnOf(port: WorkerPort): Disposable | null {
    const { turns } = this.#options;
    return turns === undefined || !canPause(port) ? null : turns.begin(port);
  }

  /** Ends the worker of a call that has used its time; looks again later if it has not. */
  #limit(
    worker: PooledWorker<Request, Answer>,
    running: RunningCall<Request, Answer>,
    { limitMs, afterMs }: { readonly limitMs: number; readonly afterMs: number },
  ): void {
    const { onStuck, computed } = this.#options;
    const { request, key } = running.call;
    running.cancelLimit = this.#after(afterMs, () => {
      const used = worker.port.cancel === undefined ? this.#usedBy(running) : 0;
      const left = computed === undefined ? 0 : limitMs - used;
      const isLate = this.#now() - running.since >= limitMs + MOST_WAITING_MS;
      if (left > 0 && !isLate) {
        return this.#limit(worker, running, { limitMs, afterMs: Math.max(left, LOOK_MS) });
      }
      onStuck?.(request, key, limitMs);
      this.#fail(worker, "It does not answer");
    });
  }

  /** Most milliseconds that a running call can have computed so far. */
  #usedBy({ since, computed }: RunningCall<Request, Answer>): number {
    const byClock = this.#now() - since;
    const now = this.#options.computed?.();
    return now === undefined ? byClock : Math.min(byClock, now - computed);
  }

  /** Starts a worker. If none can start and there is no other, a call is refused. */
  #startWorker(): boolean {
    let port: WorkerPort;
    try {
      port = this.#options.start();
    } catch (error) {
      this.#tellUnusable(reasonOf(error));
      const call = this.#workers.size === 0 ? this.#waiting.take() : undefined;
      if (call !== undefined) reject(call, error);
      return false;
    }
    const cancelled = port.cancel === undefined
      ? new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
      : null;
    const worker: PooledWorker<Request, Answer> = {
      port,
      cancelled,
      calls: 0,
      isReady: false,
      running: null,
      last: null,
      cancelEnd: NOTHING,
    };
    const { startMs = START_MS } = this.#options;
    worker.cancelEnd = this.#after(startMs, () => {
      // Calls have waited for long enough.
      this.#failedStarts = MAX_FAILED_STARTS;
      this.#failToStart(worker, "It does not start");
    });
    port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (this.#workers.has(worker)) this.#receive(worker, data);
    };
    port.onerror = (event) => {
      event.preventDefault();
      if (this.#workers.has(worker)) this.#lose(worker, event.message);
    };
    this.#workers.add(worker);
    return true;
  }

  /** Has a running call move once its time is up, if it may and others wait. */
  #losePatience(worker: PooledWorker<Request, Answer>): void {
    const { running } = worker;
    if ((running?.call.move ?? null) === null || running === null) return;
    if (running.patience !== null || this.#waiting.size === 0) return;
    const { patienceMs = 0 } = this.#options;
    running.patience = setTimeout(() => {
      // Deno 2.4 may run a timer of 0 ms although it was cleared in the same turn.
      if (running !== worker.running) return;
      running.patience = null;
      if (this.#waiting.size === 0) return;
      running.isMoving = true;
      cancelRunning(worker);
    }, Math.max(0, running.since + patienceMs - this.#now()));
  }

  #receive(worker: PooledWorker<Request, Answer>, message: FromWorker): void {
    if (message.kind === "ready") {
      const { setup = null } = this.#options;
      const cancelled = worker.cancelled?.buffer ?? null;
      worker.isReady = true;
      this.#failedStarts = 0;
      worker.cancelEnd();
      worker.port.postMessage({ kind: "open", setup, cancelled } satisfies ToWorker);
      return this.#advance();
    }
    if (message.kind === "progress") return worker.running?.call.onProgress?.(message.progress);
    const computed = message.kind === "answer" ? message.computed : undefined;
    const running = this.#finish(worker, computed);
    if (worker.last !== null) this.#advanceLast(worker);
    else this.#advance();
    if (running !== null) this.#settle(running, message);
  }

  #settle({ call, isMoving }: RunningCall<Request, Answer>, message: FromWorker): void {
    const { signal, move = null } = call;
    if (message.kind === "answer") return call.resolve(message.answer as Answer);
    if (message.kind === "failed") return call.reject(new Error(message.message));
    if (signal?.aborted === true) return call.reject(signal.reason);
    if (isMoving && move !== null && !this.#isClosed) return call.resolve(move());
    call.reject(this.#options.closed());
  }

  /** The worker makes no more calls but this one. */
  #advanceLast(worker: PooledWorker<Request, Answer>): void {
    const { last } = worker;
    worker.last = null;
    if (last !== null) this.#run(worker, last);
  }

  /** Removes a worker that has ended. Its call is made again, if that is safe. */
  #lose(worker: PooledWorker<Request, Answer>, reason: string): void {
    const { port, isReady } = worker;
    if (!isReady) return this.#failToStart(worker, reason);
    const call = worker.running?.call;
    if (call === undefined || !this.#mayRepeat(port, call)) return this.#fail(worker, reason);
    this.#remove(worker);
    call.isRepeated = true;
    call.signal?.addEventListener("abort", call.onAbort, { once: true });
    this.#waiting.putBack(call, call.key);
    this.#advance();
  }

  #mayRepeat(
    { hasReceived = true, isExhausted = false }: WorkerPort,
    { request, isRepeated, transfer = [], signal }: Call<Request, Answer>,
  ): boolean {
    const { mayRepeat = () => false } = this.#options;
    if (this.#isClosed || isRepeated || isExhausted || transfer.length > 0) return false;
    return signal?.aborted !== true && (!hasReceived || mayRepeat(request));
  }

  /** Ends a worker that does not work, and with it its call. */
  #fail(worker: PooledWorker<Request, Answer>, reason: string): void {
    const { last } = worker;
    const call = this.#remove(worker);
    if (call !== null) reject(call, this.#options.lost(reason, call.request));
    last?.reject(undefined);
    this.#advance();
  }

  /** Ends a worker that is not ready. Others start for the calls that wait, but not again and again. */
  #failToStart(worker: PooledWorker<Request, Answer>, reason: string): void {
    this.#remove(worker);
    this.#tellUnusable(reason);
    this.#failedStarts++;
    if (this.#workers.values().some(({ isReady }) => isReady)) return;
    if (this.#failedStarts < MAX_FAILED_STARTS) return this.#advance();
    this.#failedStarts = 0;
    for (const waiting of this.#waiting.clear()) reject(waiting, this.#options.unusable(reason));
  }

  #tellUnusable(reason: string): void {
    const now = this.#now();
    if (Math.abs(now - this.#toldAt) < TELL_MS) return;
    this.#toldAt = now;
    this.#options.onUnusable?.(reason);
  }

  /** Ends a worker; returns the call that has no answer now. */
  #remove(worker: PooledWorker<Request, Answer>): Call<Request, Answer> | null {
    worker.cancelEnd();
    this.#workers.delete(worker);
    worker.port.terminate();
    return this.#finish(worker)?.call ?? null;
  }

  /** @param computed the processor time of the call, if the worker has told it */
  #finish(
    worker: PooledWorker<Request, Answer>,
    computed?: number,
  ): RunningCall<Request, Answer> | null {
    const { running } = worker;
    worker.running = null;
    if (running === null) return null;
    const { call, patience } = running;
    running.cancelLimit();
    running.turn?.[Symbol.dispose]();
    if (patience !== null) clearTimeout(patience);
    call.signal?.removeEventListener("abort", call.onAbort);
    this.#options.onRan?.(call.key, computed ?? this.#usedBy(running));
    return running;
  }

  #refuseAll(error: Error): void {
    for (const call of this.#waiting.clear()) reject(call, error);
  }
}

function canPause(port: WorkerPort): port is WorkerPort & Pausable {
  return port.pause !== undefined;
}

function cancelRunning(
  { port, cancelled, calls }: Pick<PooledWorker<unknown, unknown>, "port" | "cancelled" | "calls">,
): void {
  if (cancelled !== null) Atomics.store(cancelled, 0, calls);
  port.cancel?.(calls);
}

function reject<Request, Answer>(call: Call<Request, Answer>, error: unknown): void {
  call.signal?.removeEventListener("abort", call.onAbort);
  call.reject(error);
}

/** What an error says, and what has caused it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause === undefined ? message : `${message}: ${reasonOf(cause)}`;
}

/** The processor time of this program so far, in milliseconds. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function watch(ms: number, task: () => void): () => void {
  const watchdog = new Watchdog(ms, task);
  return () => watchdog.stop();
}

/** In how many steps a watchdog waits. */
const STEPS = 10;

/**
 * Calls a function once this thread has run for a time without calling the watchdog off. A thread
 * that stands still (the machine keeps it from the core, or the process was stopped) hears nothing
 * meanwhile. Afterwards its timers run before it hears what came. So the watchdog waits in steps,
 * and a standstill is no more than one of them.
 */
export class Watchdog {
  #timer: ReturnType<typeof setTimeout>;
  #isOff = false;

  /**
   * @param ms the time, in milliseconds
   * @param onSilence called at most once
   */
  constructor(ms: number, onSilence: () => void) {
    const wait = (left: number): ReturnType<typeof setTimeout> =>
      setTimeout(() => {
        // Deno 2.4 may run a timer that was cleared in the turn in which it ended.
        if (this.#isOff) return;
        if (left === 0) onSilence();
        else this.#timer = wait(left - 1);
      }, ms / STEPS);
    this.#timer = wait(STEPS - 1);
  }

  /** Calls it off. */
  stop(): void {
    this.#isOff = true;
    clearTimeout(this.#timer);
  }
}

/** File descriptors that must be free before a thread starts; the runtime opens six for it. */
const THREAD_FILES = 16;

/**
 * How many more files this process may open.
 *
 * @param most how many to look for
 */
export function filesLeft(most: number): number {
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < most) files.push(Deno.openSync("/dev/null"));
  } catch (error) {
    // A system without this file has other limits.
    if (!(error instanceof Deno.errors.NotFound)) return files.length;
  } finally {
    for (const file of files) file.close();
  }
  return most;
}

/**
 * Starts a thread. The runtime would end the whole process if it had no descriptors for it.
 *
 * @param start makes the worker
 * @throws Unavailable if the process may open too few files, or have no more threads
 */
export function startThread(start: () => Worker): Worker {
  if (filesLeft(THREAD_FILES) < THREAD_FILES) {
    throw new Unavailable("The server may not open enough files for another thread at the moment");
  }
  try {
    return start();
  } catch (cause) {
    throw new Unavailable("The server cannot start another thread at the moment", { cause });
  }
}
