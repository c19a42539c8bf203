import { Forbidden, Invalid, TimedOut, TooMany, Unavailable } from "../../kernel/errors.ts";
import {
  longestFor,
  QUERY_WORKER,
  type QueryAnswer,
  type QueryLimits,
  type QueryRequest,
  type QueryResult,
} from "../../engines/fossil/sql/mod.ts";
import { type Caller, isOverseer, quotaFor } from "../../people/identity/mod.ts";
import { startProcess } from "../../kernel/process_port.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { Log } from "../../kernel/log.ts";
import { WorkerPool, type WorkerPort } from "../../kernel/worker_pool.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** What one statement may cost. */
export const QUERY_LIMITS: QueryLimits = {
  rows: 1000,
  bytes: 2 ** 20,
  memory: 64 * 2 ** 20,
  milliseconds: 5000,
};

/** Longest statement, in characters. */
export const MAX_SQL = 100_000;

/** Most statements that run at once. */
const MAX_RUNNING = 2;
/** Most statements that wait, and most of one caller that run or wait. */
const MAX_WAITING = 16;
const MAX_PER_CALLER = 4;
/** After how many seconds to try again. */
const RETRY_SECONDS = 5;

/** How much longer the process may take than its statement, in milliseconds. */
const START_ALLOWANCE = 5000;

interface SqlQueriesOptions {
  readonly repositories: Pick<ProjectRepositories, "files">;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Starts the process that queries a file; default: this program, started again. */
  readonly start?: (repository: string, limits: QueryLimits) => WorkerPort;
  /** What one statement may cost; default: {@link QUERY_LIMITS}. */
  readonly limits?: QueryLimits;
}

/** A statement of a caller. */
export interface SqlQuery {
  readonly project: Pick<Project, "id" | "slug">;
  readonly sql: string;
  readonly caller: Caller;
  /** Ends the statement. */
  readonly signal: AbortSignal;
}

/**
 * Runs statements of SQL that callers wrote, read-only, each in a process of its own that is killed
 * at its limit. Few run at once, and one of each caller; the others wait in a short queue. The
 * operator and admins have places of their own in it, and go first.
 */
export class SqlQueries {
  readonly #options: SqlQueriesOptions;
  readonly #running = new Semaphore({
    permits: MAX_RUNNING,
    permitsPerKey: 1,
    maxWaiting: MAX_WAITING,
    refusal: tooMany,
  });
  readonly #closing = new AbortController();

  constructor(options: SqlQueriesOptions) {
    this.#options = options;
  }

  /**
   * Runs a statement on a project's repository. The caller must be allowed to read the project.
   *
   * @throws {Invalid} SQLite refuses the statement, or it needs too much memory.
   * @throws {Forbidden} It touches what nobody may read here, or it changes something.
   * @throws {TimedOut} It ran too long.
   * @throws {TooMany} Too many statements wait.
   * @throws {Unavailable} The repository or the process cannot be used now.
   */
  async run(query: SqlQuery): Promise<QueryResult> {
    const signal = AbortSignal.any([query.signal, this.#closing.signal]);
    if (query.sql.length > MAX_SQL) {
      throw new Invalid(`The statement is longer than ${MAX_SQL} characters`);
    }
    using _permit = await this.#permitFor(query.caller, signal);
    const answer = await this.#options.repositories.files.use(
      query.project,
      () => this.#execute(query, signal),
    );
    return rowsOf(answer);
  }

  /** The statements that run, and that wait. */
  get load(): { readonly running: number; readonly queued: number } {
    return { running: this.#running.held, queued: this.#running.waiting };
  }

  /** Ends every statement, running or waiting. */
  close(): void {
    this.#closing.abort();
  }

  /**
   * Waits until a statement of a caller may run.
   *
   * @throws TooMany, Unavailable
   */
  async #permitFor({ principal }: Caller, signal: AbortSignal): Promise<Disposable> {
    const owner = ownerOf(principal);
    const isFull = this.#running.waiting >= quotaFor(principal, MAX_WAITING);
    if (isFull || this.#running.countOf(owner) >= MAX_PER_CALLER) throw tooMany();
    try {
      return await this.#running.acquire(owner, { signal, isUrgent: isOverseer(principal) });
    } catch (error) {
      throw signal.aborted ? ended() : error;
    }
  }

  /** Runs a process for one statement, and kills it at its limit. */
  async #execute({ project, sql }: SqlQuery, signal: AbortSignal): Promise<QueryAnswer> {
    const { repositories, scheduler, start = startQuery } = this.#options;
    const { limits = QUERY_LIMITS } = this.#options;
    const path = repositories.files.pathOf(project);
    const pool = new WorkerPool<QueryRequest, QueryAnswer>({
      start: () => this.#startOrExplain(() => start(path, limits)),
      cancelEnds: true,
      mayRepeat: () => true,
      full: tooMany,
      lost: () => {
        const seconds = limits.milliseconds / 1000;
        return new TimedOut(`The statement took longer than ${seconds} seconds and was ended`);
      },
      unusable: (reason) => {
        this.#options.log.warn("The process of a SQL statement has ended at its start", { reason });
        return new Unavailable("This server cannot run SQL statements at the moment");
      },
      closed: ended,
      now: () => scheduler.steady(),
      after: (ms, task) => scheduler.after(ms, task),
    });
    try {
      const limitMs = longestFor(limits.milliseconds) + START_ALLOWANCE;
      return await pool.call({ path, sql, limits }, { signal, limitMs });
    } catch (error) {
      throw signal.aborted ? ended() : error;
    } finally {
      pool.close();
    }
  }

  #startOrExplain(start: () => WorkerPort): WorkerPort {
    try {
      return start();
    } catch (error) {
      this.#options.log.error("The process of a SQL statement cannot be started", { error });
      throw new Unavailable("This server cannot run SQL statements: it may not start processes");
    }
  }
}

/** Whose statements are counted together: an account's, else a credential's. */
function ownerOf({ kind, id, name }: Caller["principal"]): string {
  return `${kind} ${id ?? name}`;
}

function tooMany(): TooMany {
  return new TooMany("Too many SQL statements run or wait already", RETRY_SECONDS);
}

function ended(): Unavailable {
  return new Unavailable("The statement was ended: the client is gone, or the server stops");
}

/** @throws {ServiceError} in place of a refusal */
function rowsOf(answer: QueryAnswer): QueryResult {
  switch (answer.kind) {
    case "rows":
      return answer;
    case "forbidden":
      throw new Forbidden(answer.message);
    case "unavailable":
      throw new Unavailable(answer.message);
    default:
      throw new Invalid(answer.message);
  }
}

/** Bytes of the process: what SQLite may hold, an answer of a few megabytes, and the program itself. */
const PROCESS_BYTES = 512 * 1024 * 1024;

/** How much nicer than muster it is: it gets what the server leaves over. */
const NICER = 10;

/**
 * Starts a process that may only read the repository.
 *
 * @throws {Unavailable} This process may not start others.
 */
function startQuery(repository: string, { milliseconds }: QueryLimits): WorkerPort {
  return startProcess({
    worker: QUERY_WORKER,
    read: [repository, `${repository}-wal`, `${repository}-shm`],
    write: [],
    memoryBytes: PROCESS_BYTES,
    computeMs: milliseconds,
    nicer: NICER,
  });
}
