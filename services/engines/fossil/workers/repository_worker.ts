/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  Cancelled,
  serveCalls,
  type ServedCall,
  Transferred,
} from "../../../kernel/serve_calls.ts";
import { copySnapshot } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import { companionPath } from "../git/mod.ts";
import { Repository } from "../repository.ts";
import { backUp } from "./backup.ts";
import { failureOf } from "./failures.ts";
import { importRepository } from "./import.ts";
import { OpenRepository } from "./open_repository.ts";
import type { Context } from "./context.ts";
import { OPERATIONS } from "./operations.ts";
import { pack, packJson } from "./parcel.ts";
import { giveWay } from "../../../kernel/thread_priority.ts";
import type {
  JobAnswer,
  JobProgress,
  JobRequest,
  WorkerSettings,
  WorkerSetup,
} from "./protocol.ts";
import { Interrupted, Watch } from "./watch.ts";

/** An operation as the worker calls it; the asynchronous interface has checked the types. */
type AnyOperation = (context: Context, input: unknown) => unknown;

/** Open repositories that a worker may always have. */
const LEAST_OPEN = 2;

/** Runs jobs, one after the other, on repositories that it keeps open for a while. */
class RepositoryWorker {
  readonly #settings: WorkerSettings;
  /** By path; the last used one is at the end. */
  readonly #open = new Map<string, OpenRepository>();
  readonly #idleTimers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #settleTimers = new Map<string, ReturnType<typeof setTimeout>>();
  #watch: Watch | null = null;
  #maxOpen: number;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#maxOpen = settings.maxOpen;
  }

  /** Runs a job; returns its result, or a promise of it. */
  execute(request: JobRequest, call: ServedCall): unknown {
    switch (request.kind) {
      case "run":
        return this.#run(request, call);
      case "open":
        this.#use(request.path);
        return;
      case "create":
        this.#keep(request.path, Repository.create(request.path, request.options));
        return;
      case "import": {
        const { path, options } = request;
        return importRepository(path, options, this.#watchOf(null, request, call));
      }
      case "backup":
        this.#close(request.path);
        return backUp(request.path, request.target);
      case "snapshot": {
        this.#close(request.path);
        const [companion, target] = [request.path, request.target].map(companionPath);
        // It comes first: it can catch up with the repository, but not fall back to it.
        if (existsSync(companion!)) copySnapshot(companion!, target!);
        return copySnapshot(request.path, request.target);
      }
      case "close":
        return this.#close(request.path);
      case "openFewer":
        this.#maxOpen = Math.min(
          this.#maxOpen,
          Math.max(LEAST_OPEN, Math.floor(this.#open.size / 2)),
        );
        return this.#closeSurplus();
      case "end":
        for (const path of [...this.#open.keys()]) this.#close(path);
        return;
    }
  }

  #watchOf(
    limitMs: number | null,
    { wantsProgress }: { readonly wantsProgress: boolean },
    call: ServedCall,
  ): Watch {
    return new Watch({
      limitMs,
      isInterrupted: () => call.isCancelled,
      report: (done, total) => {
        if (wantsProgress) call.progress([done, total] satisfies JobProgress);
      },
    });
  }

  async #run(request: JobRequest & { kind: "run" }, call: ServedCall): Promise<unknown> {
    const { path, operation, input, limitMs } = request;
    const watch = this.#watchOf(limitMs, request, call);
    watch.check();
    // From here on, nothing closes the repository because it is idle.
    this.#watch = watch;
    let isTrusted = true;
    const distrust = () => {
      isTrusted = false;
    };
    try {
      const open = this.#use(path);
      const { repository, reader } = open;
      const index = () => open.index();
      const companion = () => open.companion();
      const withCompanion: Context["withCompanion"] = (work, mayRepeat = () => true) =>
        open.withCompanion(work, mayRepeat);
      const context: Context = {
        repository,
        reader,
        watch,
        index,
        companion,
        withCompanion,
        distrust,
      };
      const result = await (OPERATIONS[operation] as AnyOperation)(context, input);
      if (open.hasWritten()) this.#settleSoon(open);
      return result;
    } catch (error) {
      if (!(error instanceof FossilError || error instanceof Interrupted)) distrust();
      throw error;
    } finally {
      if (!isTrusted) this.#close(path);
      this.#watch = null;
    }
  }

  /** An open repository; makes it the most recently used one. */
  #use(path: string): OpenRepository {
    const known = this.#open.get(path);
    if (known === undefined) {
      return this.#keep(path, Repository.open(path, { cacheBytes: this.#settings.cacheBytes }));
    }
    this.#open.delete(path);
    this.#open.set(path, known);
    known.usedAt = performance.now();
    this.#closeSurplus();
    return known;
  }

  #keep(path: string, repository: Repository): OpenRepository {
    const open = new OpenRepository(path, repository, () => this.#watch?.check());
    this.#open.set(path, open);
    this.#closeWhenIdle(open);
    this.#closeSurplus();
    return open;
  }

  /** Closes the repositories that were not used for longest, but never the last used one. */
  #closeSurplus(): void {
    const { maxCachedBytes } = this.#settings;
    const cached = () => this.#open.values().reduce((sum, open) => sum + open.cachedBytes, 0);
    for (const path of this.#open.keys()) {
      const hasRoom = this.#open.size <= this.#maxOpen && cached() <= maxCachedBytes;
      if (hasRoom || this.#open.size === 1) return;
      this.#close(path);
    }
  }

  #settleSoon(open: OpenRepository): void {
    const { path, repository } = open;
    const settle = () => {
      if (this.#watch !== null) return this.#settleSoon(open);
      this.#settleTimers.delete(path);
      try {
        if (!repository.settle()) this.#settleSoon(open);
      } catch {
        // The log keeps the rest until the disk accepts it.
      }
    };
    clearTimeout(this.#settleTimers.get(path));
    this.#settleTimers.set(path, setTimeout(settle, this.#settings.settleMs));
  }

  /** One timer per repository, restarted when it fires and not at each use. */
  #closeWhenIdle(open: OpenRepository): void {
    if (this.#watch !== null) open.usedAt = performance.now();
    const left = open.usedAt + this.#settings.idleMs - performance.now();
    if (left <= 0) this.#close(open.path);
    else this.#idleTimers.set(open.path, setTimeout(() => this.#closeWhenIdle(open), left));
  }

  #close(path: string): void {
    for (const timers of [this.#idleTimers, this.#settleTimers]) {
      clearTimeout(timers.get(path));
      timers.delete(path);
    }
    const open = this.#open.get(path);
    this.#open.delete(path);
    open?.[Symbol.dispose]();
  }
}

serveCalls(({ settings, nicer }: WorkerSetup) => {
  giveWay(nicer ?? undefined);
  if (settings.sqliteBytes !== null) boundSqlite(settings.sqliteBytes);
  const worker = new RepositoryWorker(settings);
  return async (request: JobRequest, call) => {
    try {
      const result = await worker.execute(request, call);
      const isJson = request.kind === "run" && request.asJson;
      const { parcel, transfer } = isJson ? packJson(result) : pack(result);
      return new Transferred({ kind: "done", parcel } satisfies JobAnswer, transfer);
    } catch (error) {
      if (error instanceof Interrupted) throw new Cancelled();
      return failureOf(error);
    }
  };
});

/** Has SQLite let pages go in the whole process before it uses more. */
function boundSqlite(bytes: number): void {
  const database = new DatabaseSync(":memory:");
  database.exec(`PRAGMA soft_heap_limit=${bytes}`);
  database.close();
}
