import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
import { Turns } from "../../../kernel/turns.ts";
import { startThread, WorkerPool, type WorkerPort } from "../../../kernel/worker_pool.ts";
import { longestFor } from "../computing_time.ts";
import { FossilError } from "../error.ts";
import type { NewRepositoryOptions } from "../repository.ts";
import { errorOf } from "./failures.ts";
import type { ImportOptions, ImportReport } from "./import.ts";
import {
  NEXT_SIDE,
  type OperationName,
  READ_NAMES,
  REPEATABLE,
  SIDE,
  type Side,
  SIDES,
  WHOLE_NAMES,
  WRITE_NAMES,
} from "./operation_names.ts";
import { type ProcessPort, startProcess } from "../../../kernel/process_port.ts";
import { NICER_ON_THE_SIDE } from "../../../kernel/thread_priority.ts";
import { unpack } from "./parcel.ts";
import type {
  JobAnswer,
  JobProgress,
  JobRequest,
  WorkerSettings,
  WorkerSetup,
} from "./protocol.ts";
import type { OPERATIONS } from "./operations.ts";
import type { GitPush, GitPushReport, RehearsedPush } from "../git/mod.ts";

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
interface LaneOptions {
  readonly settings: WorkerSettings;
  /** Most waiting jobs of one repository. */
  readonly maxQueued: number;
  /** Time for a job to end after its limit, before its worker is terminated. */
  readonly graceMs: number;
  /** Starts a worker that runs `repository_worker.ts`. */
  readonly startWorker: StartRepositoryWorker;
  /** How much lower the worker's priority is than the main thread's; absent for the usual. */
  readonly nicer?: number;
  /** Time for the running job to end when the lane is closed, before its worker is terminated. */
  readonly closeMs: number;
  /**
   * Time that a worker without calls stays after it has closed its last repository. Its end gives
   * back its memory.
   */
  readonly lingerMs: number;
  /** Where its jobs take turns with those of other lanes. */
  readonly turns?: Turns;
  /** Called when a worker is terminated because a call has not ended in time. */
  readonly onStuck?: (call: StuckCall) => void;
  /** Called with the reason when no worker can start: at most once a minute. */
  readonly onUnusable?: (reason: string) => void;
}

/** A call that has not ended in time. */
interface StuckCall {
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
 * One worker, started on demand and ended when idle, and the jobs of the repositories pinned to it. The worker has one
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
    const { startWorker, settings, nicer = null, maxQueued, lingerMs, onStuck } = options;
    const { onUnusable = () => {} } = options;
    this.#options = options;
    this.#pool = new WorkerPool({
      start: () => startWorker(nicer),
      setup: { settings, nicer } satisfies WorkerSetup,
      maxWaitingPerKey: maxQueued,
      patienceMs: PATIENCE_MS,
      idleMs: settings.idleMs + lingerMs,
      full: (path) => unavailable(`Too much is asked of "${path}" at the moment`),
      lost: (reason, request) => unavailable(lossOf(request, reason)),
      mayRepeat,
      unusable: (reason) => unavailable(`The worker of the repository has ended: ${reason}`),
      onUnusable,
      turns: options.turns,
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
    case "broken":
      throw errorOf(outcome);
  }
}

/** What the end of a worker means for the job that it ran. */
function lossOf(request: JobRequest, reason: string): string {
  const ended = `The worker of the repository has ended: ${reason}`;
  if (!mayHaveChanged(request)) return ended;
  return `${ended}. The change may have been made: look before you repeat it`;
}

/** Whether a job may have changed a repository. The copy of a rehearsal is its own. */
function mayHaveChanged(request: JobRequest): boolean {
  return !mayRepeat(request) &&
    !(request.kind === "run" && request.operation === "rehearsePush");
}

function mayRepeat(request: JobRequest): boolean {
  return request.kind === "open" || request.kind === "close" ||
    request.kind === "run" && REPEATABLE.has(request.operation);
}

function unavailable(message: string): FossilError {
  return new FossilError("unavailable", message);
}

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

/** The same with JSON (UTF-8) results, for operations that return plain data. */
export type JsonOperations = {
  readonly [Name in OperationName]: (
    ...args: Parameters<Operations[Name]>
  ) => Promise<Uint8Array<ArrayBuffer>>;
};

/** How long operations may compute, in milliseconds; null for no limit. */
type TimeLimits = Readonly<Record<OperationName, number | null>>;

/**
 * Time limits of running operations: reads compute for 10 s, writes for 60 s, and operations on the
 * whole repository as long as they like. An operation ends at its next check, or else with its
 * worker.
 */
const TIME_LIMITS_MS: TimeLimits = {
  ...limitOfEach(READ_NAMES, 10_000),
  ...limitOfEach([...WRITE_NAMES, "writeTogether"], 60_000),
  ...limitOfEach(WHOLE_NAMES, null),
};

function limitOfEach<Name extends OperationName>(
  names: readonly Name[],
  limitMs: number | null,
): Record<Name, number | null> {
  return Object.fromEntries(names.map((name) => [name, limitMs])) as Record<Name, number | null>;
}

/**
 * Starts a worker that runs `repository_worker.ts`.
 *
 * @param nicer how much lower its priority is than the main thread's; null for the usual
 */
export type StartRepositoryWorker = (nicer: number | null) => WorkerPort;

/** Options of {@link RepositoryPool}. */
export interface PoolOptions extends Partial<WorkerSettings> {
  /** Most workers; each is started on demand. */
  readonly workers?: number;
  /** Most waiting calls of one repository; further ones are refused. */
  readonly maxQueued?: number;
  /** Time limits that replace those of `limits.ts`, in milliseconds. */
  readonly timeLimits?: Partial<TimeLimits>;
  /** Time for a call to end after its limit, before its worker is terminated. */
  readonly graceMs?: number;
  /** Time for running calls to end when the pool is closed, before workers are terminated. */
  readonly closeMs?: number;
  /** Time that a worker without calls stays after it has closed its last repository. */
  readonly lingerMs?: number;
  /** Starts a worker that runs `repository_worker.ts`; throws if none can start. */
  readonly startWorker?: StartRepositoryWorker;
  /** Whether each of these workers is a process. */
  readonly areProcesses?: boolean;
  /** Called when a worker is terminated because a call has not ended in time. */
  readonly onStuck?: (call: StuckCall) => void;
  /** Called with the reason when a worker cannot start: by each lane, at most once a minute. */
  readonly onUnusable?: (reason: string) => void;
}

/**
 * A repository in a pool: the operations of `operations.ts`, asynchronous. The file is opened on
 * demand. The calls of one repository run one after the other, in order.
 */
export type PooledRepository = Omit<Operations, "rehearsePush"> & {
  /** Canonical path of the file. */
  readonly path: string;
  /** The same operations with JSON results, which this thread forwards unread. */
  readonly json: JsonOperations;
  /**
   * Copies the repository to a file, which must not exist, while it is in use.
   *
   * @throws {FossilError} `invalid` if the target exists; `unavailable`.
   */
  backUp(target: string, options?: CallOptions): Promise<void>;
  /**
   * Stores a long push in a copy of the repository, while others write to it. Then `storeRehearsed`
   * stores it here.
   *
   * @param copy where to make the copy; the caller removes it, and the files beside it
   */
  rehearsePush(copy: string, push: GitPush, options?: CallOptions): Promise<RehearsedPush>;
  /** Closes the file after the earlier calls. A later call opens it again. */
  close(): Promise<void>;
};

/** The current load of a pool. */
export interface PoolLoad {
  /** Repositories that were opened, and not closed by a caller. */
  readonly repositories: number;
  readonly running: number;
  readonly queued: number;
}

/** How a side differs from the workers to which repositories are pinned. */
interface SideOptions {
  readonly workers: number;
  /** Most time after which a repository is closed, in milliseconds: it is needed less often. */
  readonly idleMs: number;
}

const MEBIBYTE = 1024 * 1024;

/** How much that is heavy goes on at a time: it leaves a core to everybody else. */
const HEAVY_WORKERS = Math.max(1, availableParallelism() - 1);

const SIDE_OPTIONS: Readonly<Record<Side, SideOptions>> = {
  quick: { workers: 1, idleMs: 30_000 },
  heavy: { workers: HEAVY_WORKERS, idleMs: 30_000 },
  // What has no limit holds hundreds of megabytes, which only the end of its process gives back.
  unlimited: { workers: 3, idleMs: 2_000 },
  imports: { workers: 2, idleMs: 2_000 },
  rehearsals: { workers: 2, idleMs: 2_000 },
};

/** What workers on the side cache, in bytes: they read a thing once. */
const SIDE_CACHES = {
  cacheBytes: 8 * MEBIBYTE,
  maxCachedBytes: 32 * MEBIBYTE,
  sqliteBytes: 6 * MEBIBYTE,
};

/** Bytes that SQLite may use in each process of a pool, about. */
const SQLITE_BYTES = 12 * MEBIBYTE;

const DEFAULTS: Required<PoolOptions> = {
  workers: 2,
  maxQueued: 100,
  maxOpen: 16,
  idleMs: 300_000,
  settleMs: 1000,
  cacheBytes: 16 * MEBIBYTE,
  maxCachedBytes: 64 * MEBIBYTE,
  sqliteBytes: null,
  timeLimits: TIME_LIMITS_MS,
  graceMs: 10_000,
  closeMs: 5000,
  lingerMs: 5000,
  startWorker: startRepositoryThread,
  areProcesses: false,
  onStuck: () => {},
  onUnusable: () => {},
};

/**
 * Repositories with an asynchronous interface. Each is pinned to one worker, the only writer in this
 * process. What takes long goes to workers on the side, which read, so that nothing waits for it.
 */
export class RepositoryPool {
  readonly #settings: WorkerSettings;
  readonly #lanes: readonly Lane[];
  readonly #sides: Readonly<Record<Side, readonly Lane[]>>;
  readonly #timeLimits: TimeLimits;
  readonly #areProcesses: boolean;
  /** What calls on the side wait for, by path. */
  readonly #held = new Map<string, Promise<unknown>>();
  /** By path. */
  readonly #pins = new Map<string, Lane>();

  constructor(options: PoolOptions = {}) {
    const all = { ...DEFAULTS, ...options };
    const { workers, maxQueued, onStuck, timeLimits, graceMs, closeMs, lingerMs, ...rest } = all;
    const { startWorker, areProcesses, onUnusable, ...settings } = rest;
    this.#areProcesses = areProcesses;
    this.#timeLimits = { ...TIME_LIMITS_MS, ...timeLimits };
    this.#settings = settings;
    const laneOptions = {
      settings,
      maxQueued,
      graceMs,
      closeMs,
      lingerMs,
      startWorker,
      onStuck,
      onUnusable,
    };
    this.#lanes = Array.from({ length: workers }, () => new Lane(laneOptions));
    const turns = new Turns({ most: HEAVY_WORKERS });
    this.#sides = Object.fromEntries(SIDES.map((side) => {
      const { workers, idleMs } = SIDE_OPTIONS[side];
      const sideSettings = {
        ...settings,
        idleMs: Math.min(settings.idleMs, idleMs),
        cacheBytes: Math.min(settings.cacheBytes, SIDE_CACHES.cacheBytes),
        maxCachedBytes: Math.min(settings.maxCachedBytes, SIDE_CACHES.maxCachedBytes),
        sqliteBytes: settings.sqliteBytes === null ? null : SIDE_CACHES.sqliteBytes,
      };
      const sideOptions = {
        ...laneOptions,
        settings: sideSettings,
        nicer: NICER_ON_THE_SIDE,
        ...side === "quick" ? {} : { turns },
      };
      return [side, Array.from({ length: workers }, () => new Lane(sideOptions))];
    })) as Record<Side, Lane[]>;
  }

  /**
   * Opens a repository.
   *
   * @throws {FossilError} `unsupported` if the file is not a repository; `unavailable`.
   */
  async open(path: string, options?: CallOptions): Promise<PooledRepository> {
    const real = await realPath(path);
    await this.#laneOf(real).submit(real, { kind: "open", path: real }, options);
    return this.#handle(real);
  }

  /**
   * Makes a repository with its first, empty check-in.
   *
   * @throws {FossilError} `invalid` if the file exists or an option is malformed; `unavailable`.
   */
  async create(path: string, options: NewRepositoryOptions): Promise<PooledRepository> {
    const { cacheBytes } = this.#settings;
    const real = await placeOf(path);
    const request = { kind: "create", path: real, options: { cacheBytes, ...options } } as const;
    const lane = this.#laneOf(real);
    try {
      await lane.submit(real, request);
    } catch (error) {
      this.#unpin(real, lane);
      throw error;
    }
    return this.#handle(real);
  }

  /**
   * Makes a repository from a file: a `git fast-export` stream or another repository. Leaves
   * nothing behind if it fails.
   *
   * @throws {FossilError} `invalid` if the file exists or the source is malformed; `unavailable`.
   */
  async import(
    path: string,
    options: ImportOptions,
    callOptions: CallOptions = {},
  ): Promise<ImportReport> {
    const real = await placeOf(path);
    const wantsProgress = callOptions.onProgress !== undefined;
    const request = { kind: "import", path: real, options, wantsProgress } as const;
    const lane = leastBusy(this.#sides.imports);
    return await lane.submit(real, request, callOptions) as ImportReport;
  }

  get load(): PoolLoad {
    const loads = this.#allLanes.map(({ load }) => load);
    return {
      repositories: this.#pins.size,
      running: loads.filter(({ running }) => running).length,
      queued: loads.reduce((sum, { queued }) => sum + queued, 0),
    };
  }

  /**
   * Has every worker close half of its open repositories, and keep as few open from then on: for a
   * process that has no file descriptors left.
   */
  openFewer(): void {
    for (const lane of this.#allLanes) lane.openFewer();
  }

  /** Refuses waiting calls, ends running ones if possible, and closes every file. */
  async close(): Promise<void> {
    await Promise.all(this.#allLanes.map((lane) => lane.close()));
  }

  get #allLanes(): readonly Lane[] {
    return [...this.#lanes, ...Object.values(this.#sides).flat()];
  }

  #handle(path: string): PooledRepository {
    return handle({
      path,
      lane: () => this.#laneOf(path),
      unpin: (lane) => this.#unpin(path, lane),
      sides: this.#sides,
      held: this.#held,
      limits: this.#timeLimits,
      areProcesses: this.#areProcesses,
    });
  }

  /** Lets a repository that is closed go to another worker. */
  #unpin(path: string, lane: Lane): void {
    if (!lane.has(path)) this.#pins.delete(path);
  }

  /** The worker of a repository; a new repository gets the worker with the fewest. */
  #laneOf(path: string): Lane {
    const known = this.#pins.get(path);
    if (known !== undefined) return known;
    const pinned = [...this.#pins.values()];
    const counts = this.#lanes.map((lane) => pinned.filter((other) => other === lane).length);
    const lane = this.#lanes[counts.indexOf(Math.min(...counts))];
    if (lane === undefined) throw new RangeError("A pool needs a worker");
    this.#pins.set(path, lane);
    return lane;
  }
}

const WORKER = new URL("./repository_worker.ts", import.meta.url);

function startRepositoryThread(): WorkerPort {
  return startThread(() => new Worker(WORKER, { type: "module", name: "repositories" }));
}

/** Bytes of memory of a process for repositories. */
const PROCESS_BYTES = 2 * 1024 * 1024 * 1024;

/**
 * Has the workers of a {@linkcode RepositoryPool} run as processes, which can read and write nothing but
 * the files in one folder. A process that crashes, or needs too much memory, ends alone.
 *
 * @param memoryBytes what each may have; two gigabytes, if absent
 * @returns options of the pool
 */
export function repositoryProcesses(
  folder: string,
  memoryBytes: number = PROCESS_BYTES,
): {
  startWorker: (nicer: number | null) => ProcessPort;
  areProcesses: true;
  sqliteBytes: number;
} {
  const startWorker = (nicer: number | null) =>
    startProcess({
      worker: WORKER,
      read: [folder],
      write: [folder],
      memoryBytes,
      ...nicer === null ? {} : { nicer },
    });
  return { startWorker, areProcesses: true, sqliteBytes: SQLITE_BYTES };
}

/** One name per file, so that no two workers open one. */
async function realPath(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new FossilError("unsupported", `"${path}" does not exist`);
  }
}

/** The name of a file that is to be made. */
async function placeOf(path: string): Promise<string> {
  return join(await realPath(dirname(path)), basename(path));
}

function handle(door: Omit<Door, "asJson">): PooledRepository {
  const { path, sides, held, limits } = door;
  const closeSides = () =>
    Promise.all(Object.values(sides).flat().map((side) => side.forget(path)));
  /** Runs a job for which nothing else of this process may have the file open. */
  const runAlone = async (job: JobRequest, options?: CallOptions) => {
    const running = closeSides().then(() => door.lane().submit(path, job, options));
    const ended = running.catch(() => {}).finally(() => {
      if (held.get(path) === ended) held.delete(path);
    });
    held.set(path, ended);
    await running;
  };
  return Object.freeze({
    ...operationsOf({ ...door, asJson: false }) as Operations,
    json: operationsOf({ ...door, asJson: true }) as JsonOperations,
    path,
    backUp: (target: string, options?: CallOptions) =>
      runAlone({ kind: "backup", path, target }, options),
    rehearsePush: async (copy: string, push: GitPush, options?: CallOptions) => {
      const lane = leastBusy(sides.rehearsals);
      const snapshot = { kind: "snapshot", path, target: copy } as const;
      await (door.areProcesses
        ? lane.submit(path, snapshot, options)
        : runAlone(snapshot, options));
      const operation = "rehearsePush";
      const job = {
        kind: "run",
        path: copy,
        operation,
        input: push,
        asJson: false,
        limitMs: limits[operation],
        wantsProgress: false,
      } as const;
      try {
        return { copy, report: await lane.submit(copy, job, options) as GitPushReport };
      } finally {
        await lane.forget(copy);
      }
    },
    close: async () => {
      const lane = door.lane();
      await lane.submit(path, { kind: "close", path });
      door.unpin(lane);
      // After the calls that moved there from the lane.
      await closeSides();
    },
  });
}

/** The context of a repository's methods. */
interface Door {
  readonly path: string;
  /** The worker to which it is pinned. */
  lane(): Lane;
  /** Call this when it has closed the file. */
  unpin(lane: Lane): void;
  readonly sides: Readonly<Record<Side, readonly Lane[]>>;
  /** What calls on the side wait for, by path. */
  readonly held: Map<string, Promise<unknown>>;
  readonly limits: TimeLimits;
  /** Whether each worker is a process. */
  readonly areProcesses: boolean;
  /** Whether the caller wants results as JSON. */
  readonly asJson: boolean;
}

/** The first of the workers with the fewest calls: another one is started only when it is needed. */
function leastBusy(lanes: readonly Lane[]): Lane {
  const calls = ({ load: { queued, running } }: Lane) => queued + Number(running);
  return lanes.reduce((best, lane) => calls(lane) < calls(best) ? lane : best);
}

/** One method per operation; `limits.ts` has their types. */
function operationsOf(door: Door): Record<string, unknown> {
  const { path, sides, held, limits, asJson } = door;
  const names = Object.keys(limits) as OperationName[];
  return Object.fromEntries(names.map((operation) => {
    const call = (input: unknown, options?: CallOptions) => {
      const limitMs = limits[operation];
      const wantsProgress = options?.onProgress !== undefined;
      const request = { operation, input, asJson, limitMs, wantsProgress };
      const job = { kind: "run", path, ...request } as const;
      const side = SIDE.get(operation);
      const submitTo = (choose: () => Lane, move: Move | null = null) => {
        const waiting = held.get(path);
        const submitToSide = () => choose().submit(path, job, options, move);
        return waiting === undefined ? submitToSide() : waiting.then(submitToSide);
      };
      // One of them at most has what a repository was asked for, and remembers what it compared.
      const choose = (side: Side) => () =>
        sides[side].find((other) => other.has(path)) ?? leastBusy(sides[side]);
      const next = NEXT_SIDE.get(operation);
      const move = next === undefined ? null : () => submitTo(choose(next));
      if (side !== undefined) return submitTo(choose(side), move);
      return door.lane().submit(path, job, options, move);
    };
    return [operation, call];
  }));
}
