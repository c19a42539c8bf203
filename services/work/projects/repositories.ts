import { join } from "node:path";
import type { Database } from "../../engines/database/mod.ts";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import type { Origin } from "../../engines/events/mod.ts";
import type {
  ImportFrom,
  ImportReport,
  OpenWork,
  PooledRepository,
  PoolLoad,
} from "../../engines/fossil/mod.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { HaltCheck } from "./access.ts";
import { addGuide } from "./agents_guide.ts";
import { RepositoryAnswers } from "./answers.ts";
import { RepositoryArchives } from "./archives.ts";
import { RepositoryDownloads } from "./downloads.ts";
import { projectEvent } from "./events.ts";
import type { ProjectHomes } from "./homes.ts";
import {
  type Intended,
  Intentions,
  type Pending,
  pushStampOf,
  type Stamp,
  stampOf,
} from "./intentions.ts";
import {
  JointRepository,
  MAX_WAITING,
  type Subject,
  tooManyWait,
  WaitingWrites,
  type WriteGroup,
} from "./joint_writes.ts";
import { LongFiles } from "./long_files.ts";
import { OlderCopies } from "./older_copies.ts";
import { StorageQuotas } from "./quotas.ts";
import { markOf, type OwnWrite, type ReceptionObserver } from "./reception.ts";
import { ReceivedPlaces } from "./received_places.ts";
import type { Project } from "./records.ts";
import { RepositoryFiles, translated } from "./repository_files.ts";
import { Reconciliation, type RepositoryLooker } from "./reconciliation.ts";
import { Takeovers } from "./takeovers.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { stateOfFileNow } from "./file_states.ts";
import { newUlid } from "../../kernel/ulid.ts";
import {
  RepositoryPool,
  repositoryProcesses,
  searchIndexPath,
} from "../../engines/fossil/front/mod.ts";

/** The writes of one project: one at a time, and so many that wait. */
const WRITES = {
  permitsPerKey: 1,
  maxWaitingPerKey: MAX_WAITING,
  refusal: tooManyWait,
};

export interface ProjectRepositoriesOptions {
  /** The folder of the repository files. */
  readonly folder: string;
  readonly database: Database;
  readonly halts: HaltCheck;
  /** Which repositories are here. */
  readonly homes: ProjectHomes;
  /** Bounds of what is stored, in bytes; 0 for none. */
  readonly quotas: { readonly projectBytes: number; readonly accountBytes: number };
  readonly pool?: RepositoryPool;
  /** Whether repositories are read and written by processes, and not by threads. */
  readonly startsProcesses?: boolean;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Says what a push intends, before it is stored. */
export type Intend = <Body>(intended: Intended<Body>) => Promise<void>;

/** A write to a repository. */
export interface RepositoryWrite<Body, Result> {
  readonly caller: Caller;
  /** The user of the artifacts; by default the caller. */
  readonly user?: string;
  /** The changes of the app database in the same step; see `Intentions`. */
  readonly intention?: Intended<Body>;
  /**
   * What it is about, such as one page, if it reads and changes nothing else; null if the engine
   * alone judges it, by what it finds when it writes. Such writes share a transaction if they wait at
   * the same time and are about different things. Absent for a write that must run alone.
   */
  readonly subject?: string | null;
  /** Bytes that are known to come; null if the write makes room, which is allowed beyond a quota. */
  readonly coming?: number | null;
  /**
   * Writes in one operation of the pool, which is one transaction or a part of one, with the author,
   * date and mark of `stamp`.
   */
  write(repository: PooledRepository, stamp: Stamp): Promise<Result>;
}

/** A write that waits for its turn. */
interface WaitingWrite extends Subject {
  readonly write: RepositoryWrite<unknown, unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** A write whose turn has come. */
interface StampedWrite extends OwnWrite {
  readonly waiting: WaitingWrite;
  /** Its intention; null if it has none. */
  readonly pending: Pending | null;
}

/** How long running writes may still take once repositories are closed, in milliseconds. */
const CLOSING_MS = 5000;

/**
 * The repositories of projects: reading, writing, and the events of new artifacts, whichever
 * program wrote them. Each artifact in the timeline becomes one event, in one transaction with the
 * cursor. If the process is killed before that, the next round finds the artifact.
 */
export class ProjectRepositories {
  readonly homes: ProjectHomes;
  readonly files: RepositoryFiles;
  readonly intentions: Intentions;
  readonly quotas: StorageQuotas;
  /** Kept answers of the API to reads; valid until the repository changes. */
  readonly answers: RepositoryAnswers;
  readonly mainBranches: KeptReads<string>;
  readonly openWork: KeptReads<OpenWork>;
  readonly archives: RepositoryArchives;
  readonly downloads: RepositoryDownloads;
  readonly longFiles = new LongFiles();
  readonly indexes: SearchIndexes;
  readonly #copies: OlderCopies;
  readonly #pool: RepositoryPool;
  readonly #scheduler: Scheduler;
  readonly #log: Log;
  readonly #halts: HaltCheck;
  /** One write of a project at a time, and one making or removal of a slug. */
  readonly #turns = new Semaphore(WRITES);
  readonly #waiting = new WaitingWrites<WaitingWrite>();
  readonly places: ReceivedPlaces;
  readonly takeovers: Takeovers;
  readonly #reconciliation: Reconciliation;
  readonly #lastDates = new Map<string, number>();

  private constructor(options: ProjectRepositoriesOptions) {
    this.#pool = options.pool ?? openPool(options);
    this.homes = options.homes;
    this.places = new ReceivedPlaces(options.database, options.homes.self);
    this.#copies = new OlderCopies({
      database: options.database,
      places: this.places,
      log: options.log,
    });
    this.files = new RepositoryFiles({
      folder: options.folder,
      pool: this.#pool,
      homes: options.homes,
      copies: this.#copies,
    });
    this.answers = new RepositoryAnswers(this.files);
    this.mainBranches = new KeptReads(this.files, (repository) => repository.mainBranch());
    this.openWork = new KeptReads(this.files, (repository) => repository.openWork());
    this.archives = new RepositoryArchives(this.files);
    this.downloads = new RepositoryDownloads(this.files);
    this.indexes = new SearchIndexes({
      files: this.files,
      prepareClones: (project) => this.prepareClones(project),
      log: options.log,
    });
    this.intentions = new Intentions(options);
    this.quotas = new StorageQuotas({
      ...options.quotas,
      database: options.database,
      clock: () => options.scheduler.now(),
      log: options.log,
    });
    this.#reconciliation = new Reconciliation({
      database: options.database,
      files: this.files,
      intentions: this.intentions,
      places: this.places,
      scheduler: options.scheduler,
    });
    this.takeovers = new Takeovers({
      ...options,
      files: this.files,
      intentions: this.intentions,
      places: this.places,
      alone: (project) => this.#turns.acquire(project.id),
      catchUp: (project) => this.catchUp(project),
    });
    this.#halts = options.halts;
    this.#scheduler = options.scheduler;
    this.#log = options.log;
  }

  /** Makes the folder if it is missing, and reads how far the events go. */
  static async open(options: ProjectRepositoriesOptions): Promise<ProjectRepositories> {
    await Deno.mkdir(options.folder, { recursive: true, mode: 0o700 });
    const repositories = new ProjectRepositories(options);
    await repositories.files.sweep();
    await repositories.intentions.load();
    await repositories.places.load();
    return repositories;
  }

  /**
   * Reads from a project's repository.
   *
   * @throws ServiceError in place of the engine's errors
   */
  read<T>(
    project: Pick<Project, "id" | "slug">,
    work: (repository: PooledRepository) => Promise<T>,
  ): Promise<T> {
    return this.files.use(project, work);
  }

  /**
   * Writes to a project's repository: records the intention, writes, and settles, so that state and
   * events are one transaction. Writes to one project run one after the other, or together with those
   * that wait at the same time, see {@link RepositoryWrite.subject}; each is refused by itself.
   *
   * @throws ServiceError in place of the engine's errors; then nothing was written
   * @throws Unavailable if the outcome is unknown; it is settled later
   * @throws Halted if the caller is a halted agent
   * @throws InsufficientStorage if the project or the caller has stored as much as it may
   */
  write<Body, Result>(project: Project, write: RepositoryWrite<Body, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { subject } = write;
      const waiting = { subject, write, resolve, reject } as WaitingWrite;
      const group = this.#waiting.add(project.id, waiting);
      if (group !== null) void this.#writeInTurn(project, group);
    });
  }

  /** Makes the writes of a group when its turn has come. Never rejects. */
  async #writeInTurn(project: Project, group: WriteGroup<WaitingWrite>): Promise<void> {
    try {
      using _turn = await this.#turns.acquire(project.id).finally(() =>
        this.#waiting.take(project.id, group)
      );
      await this.#writeTogether(project, group.writes);
    } catch (error) {
      for (const { reject } of group.writes) reject(error);
    }
  }

  async #writeTogether(project: Project, group: readonly WaitingWrite[]): Promise<void> {
    this.homes.requireTaken(project);
    this.files.requireInPlace(project);
    const isAdmitted = await Promise.all(group.map((waiting) => this.#admit(project, waiting)));
    const writes = group.filter((_, index) => isAdmitted[index])
      .map((waiting) => this.#stamp(project, waiting));
    if (writes.length === 0) return;
    const intentions = writes.flatMap(({ pending }) => pending ?? []);
    await this.intentions.record(intentions, this.#scheduler.now());
    const { outcomes, joint } = await this.#makeTogether(project, writes);
    if (intentions.length > 0 || joint?.hasWritten !== false) {
      try {
        const received = joint?.received ?? null;
        const bytes = await this.#reconciliation.settle(project, writes, received);
        const writers = writes.map(({ waiting: { write: { caller: { principal } } } }, index) => (
          { principal, sent: joint?.sent[index] ?? 0 }
        ));
        this.quotas.note(project, writers, bytes);
      } catch (error) {
        for (const [index, { waiting: { reject } }] of writes.entries()) {
          if (outcomes[index]?.status === "fulfilled") reject(error);
        }
        this.#log.error("Writes are not settled yet", { slug: project.slug, error });
      }
    }
    for (const [index, { waiting: { resolve, reject } }] of writes.entries()) {
      const outcome = outcomes[index];
      if (outcome?.status === "fulfilled") resolve(outcome.value);
      else reject(outcome?.reason);
    }
  }

  /** Checks what a write needs besides its own checks. Returns whether it may go on. */
  async #admit(
    project: Project,
    { write: { caller, coming = 0 }, reject }: WaitingWrite,
  ): Promise<boolean> {
    try {
      await this.#confirm(caller);
      if (coming !== null) await this.requireRoom(project, caller, coming);
      return true;
    } catch (error) {
      reject(error);
      return false;
    }
  }

  #stamp(project: Project, waiting: WaitingWrite): StampedWrite {
    const { caller, user, intention } = waiting.write;
    const origin = originOf(caller);
    const id = newUlid(this.#scheduler.now());
    const date = this.#nextDate(project.id);
    const stamp = stampOf(id, { user: user ?? caller.principal.name, date });
    const pending = intention === undefined ? null : {
      id,
      projectId: project.id,
      kind: intention.kind.name,
      stamp,
      origin,
      body: intention.body,
    };
    return { waiting, stamp, origin, pending };
  }

  /** Makes writes; the outcome of each has a service error in place of the engine's. */
  async #makeTogether(
    project: Project,
    writes: readonly StampedWrite[],
  ): Promise<{
    readonly outcomes: readonly PromiseSettledResult<unknown>[];
    readonly joint: JointRepository | null;
  }> {
    const after = this.places.of(project) ?? null;
    let joint: JointRepository | null = null;
    try {
      const outcomes = await this.files.use(project, (repository) => {
        const shared = new JointRepository(repository, writes.length, after);
        joint = shared;
        return Promise.allSettled(
          writes.map(({ waiting: { write }, stamp }, index) =>
            translated(() => shared.use(index, (own) => write.write(own, stamp)))
          ),
        );
      });
      return { outcomes, joint };
    } catch (reason) {
      return { outcomes: writes.map(() => ({ status: "rejected", reason })), joint };
    }
  }

  /**
   * Receives a push or a pull: what another program made. The events of its artifacts have the caller
   * as their origin; without one they count as foreign.
   *
   * @param push writes in one operation of the pool, with the mark for what it writes, and returns the
   * receipt, or null if nothing came; before, it may say what it intends
   * @param isFromGit whether all that it brings is one event
   * @throws ServiceError in place of the engine's errors
   */
  async receive<Result extends { readonly receipt: number | null }>(
    project: Project,
    caller: Caller | null,
    push: (repository: PooledRepository, mark: string | null, intend: Intend) => Promise<Result>,
    { isFromGit = false }: { readonly isFromGit?: boolean } = {},
  ): Promise<Result> {
    using _turn = await this.#turnOf(project, caller);
    this.files.requireInPlace(project);
    await this.requireRoom(project, caller);
    const origin = caller === null ? null : originOf(caller);
    const mark = markOf(origin, { now: this.#scheduler.now(), isFromGit });
    let isIntended = false;
    const intend: Intend = async ({ kind: { name: kind }, body }) => {
      if (origin === null || mark === null) throw new Error("Nobody intends this");
      isIntended = true;
      const now = this.#scheduler.now();
      const stamp = pushStampOf(mark, this.#nextDate(project.id));
      const intention = { id: newUlid(now), projectId: project.id, kind, stamp, origin, body };
      await this.intentions.record([intention], now);
    };
    const receiving = this.files.use(project, (repository) => push(repository, mark, intend));
    const isReceived = await receiving.then(({ receipt }) => receipt !== null, () => false);
    // Unversioned files leave no receipt.
    const bytes = isReceived || isIntended
      ? await this.#reconciliation.settle(project)
      : await receiving.then(() => this.#bytesOf(project));
    const result = await receiving;
    this.quotas.note(project, [{ principal: caller?.principal ?? null, sent: 1 }], bytes);
    return result;
  }

  /**
   * Checks that a project and a caller may store something.
   *
   * @param caller null for what nobody sent
   * @param coming bytes that are known to come
   * @throws InsufficientStorage
   */
  requireRoom(
    project: Project,
    caller: Pick<Caller, "principal"> | null,
    coming = 0,
  ): Promise<void> {
    const measure = () => this.#bytesOf(project);
    return this.quotas.require(project, caller?.principal ?? null, { coming, measure });
  }

  /** Makes a project's Git objects, and the pack that clones get. */
  async prepareClones(project: Pick<Project, "id" | "slug">): Promise<void> {
    const where = { folder: this.files.folder, maxKept: await this.roomForPack(project) };
    await this.files.use(project, (repository) => repository.prepareClones(where));
  }

  /** Bytes that the pack of a project's clones may take: no more than its quota leaves. */
  roomForPack(project: Pick<Project, "id" | "slug">): Promise<number> {
    return this.quotas.roomOf(project, {
      most: MAX_KEPT_PACK,
      measure: () => this.#bytesOf(project),
    });
  }

  /**
   * Runs a task while nothing is written to a project's repository. If state changes only in such
   * tasks, a check of it inside `write` holds until the write is settled. Never call this inside
   * `write`.
   *
   * @param caller in whose name it runs; null for the program's own work
   * @throws what {@link Caller.confirm} throws
   */
  async exclusively<T>(
    project: Pick<Project, "id">,
    caller: Caller | null,
    task: () => Promise<T>,
  ): Promise<T> {
    using _turn = await this.#turnOf(project, caller);
    return await task();
  }

  /**
   * As {@link Reconciliation.onReceived}. Nothing else is written to the project meanwhile.
   */
  onReceived(observer: ReceptionObserver): void {
    this.#reconciliation.onReceived(observer);
  }

  /** As {@link Reconciliation.onLook}. Nothing else is written to the project meanwhile. */
  onLook(looker: RepositoryLooker): void {
    this.#reconciliation.onLook(looker);
  }

  /**
   * Settles unfinished writes, and appends the events of what other programs wrote. Afterwards,
   * everything that was in the repository before the call has its event.
   */
  async catchUp(project: Project): Promise<void> {
    using _turn = await this.#turnOf(project, null);
    await this.#reconciliation.settle(project);
  }

  /**
   * Accepts the repository file of a project although it lacks what the database knows of.
   *
   * @throws Conflict if it lacks nothing
   */
  async accept(project: Project, caller: Caller): Promise<void> {
    using _turn = await this.#turnOf(project, caller);
    return await this.#copies.accept(project, async () => {
      this.places.forget(project);
      const by = { origin: originOf(caller), time: this.#scheduler.now() };
      await this.places.keep(project, await this.files.endOf(project), {
        statements: await this.#reconciliation.look(project, true),
        events: [projectEvent(project, "project.accepted", {}, by)],
      });
    });
  }

  /**
   * Makes the repository of a new project.
   *
   * @param caller in whose name it is made
   * @param guideBy the user who adds a guide for agents; null for none
   * @param isTaken whether another project has taken the slug meanwhile
   * @param commit writes the project's row
   */
  async create(
    project: Project,
    caller: Caller,
    { guideBy, isTaken, commit }: {
      readonly guideBy: string | null;
      isTaken(): boolean;
      commit(): Promise<void>;
    },
  ): Promise<void> {
    using _turn = await this.#turns.acquire(`slug ${project.slug}`);
    await caller.confirm?.();
    if (isTaken()) throw new Conflict(`The project "${project.slug}" already exists`);
    await this.files.create(project);
    let place;
    try {
      if (guideBy !== null) {
        await this.read(project, (repository) => addGuide(repository, project, guideBy));
      }
      place = await this.files.endOf(project);
      await commit();
    } catch (error) {
      await this.files.remove(project);
      throw error;
    }
    await this.places.keep(project, place);
  }

  /**
   * Runs a task that gives a project to another node. Nothing is written to it meanwhile, and every
   * write has its events.
   */
  handOver(project: Project, caller: Caller, task: () => Promise<void>): Promise<void> {
    return this.exclusively(project, caller, async () => {
      await this.#reconciliation.settle(project);
      await task();
    });
  }

  /**
   * Fills the repository of a project from a file, which the caller removes.
   *
   * @throws Conflict if it has anything beyond its first, empty check-in
   */
  async import(
    project: Project,
    from: ImportFrom,
    { origin, caller = null, onProgress, signal }: {
      readonly origin: Origin;
      /** In whose name it is filled; null for the program's own work. */
      readonly caller?: Caller | null;
      readonly onProgress?: (done: number, total: number | null) => void;
      readonly signal?: AbortSignal;
    },
  ): Promise<{ readonly report: ImportReport; readonly checkins: number }> {
    using _turn = await this.#turnOf(project, caller);
    await this.requireEmpty(project);
    const { size: coming } = await Deno.stat(from.source);
    await this.requireRoom(project, null, coming);
    const report = await this.files.replace(project, from, {
      mayReplace: () => this.requireEmpty(project),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(signal === undefined ? {} : { signal }),
    });
    const by = { origin, time: this.#scheduler.now() };
    const { total: checkins } = await this.read(
      project,
      (repository) => repository.timeline({ limit: 0 }),
    );
    const data = { format: report.format, checkins };
    await this.places.keep(project, await this.files.endOf(project), {
      statements: await this.#reconciliation.look(project, true),
      events: [projectEvent(project, "project.imported", data, by)],
    });
    this.quotas.forget(project);
    this.indexes.update(project, { forClones: true });
    return { report, checkins };
  }

  /**
   * Checks whether a project accepts an import, before its client sends a long file in vain.
   *
   * @throws Conflict if its repository has anything beyond its first, empty check-in
   */
  async requireEmpty(project: Project): Promise<void> {
    if (await this.isEmpty(project)) return;
    throw new Conflict("The repository is not empty: import into a new project");
  }

  /** Whether a project's repository has nothing beyond its first, empty check-in. */
  async isEmpty(project: Pick<Project, "id" | "slug">): Promise<boolean> {
    const { total } = await this.read(project, (repository) => repository.activity({ limit: 2 }));
    return total <= 1;
  }

  /**
   * Removes a project in the database, then moves its repository aside. A file that cannot be moved
   * stays until a project takes its name.
   *
   * @throws Unavailable if the disk refuses the folder for removed files; then nothing is removed
   */
  async remove(project: Project, caller: Caller, commit: () => Promise<void>): Promise<void> {
    using _turn = await this.#turns.acquire(`slug ${project.slug}`);
    await caller.confirm?.();
    await this.files.prepareRemoval();
    await commit();
    try {
      using _write = await this.#turns.acquire(project.id);
      await this.files.remove(project);
    } catch (error) {
      const { slug } = project;
      this.#log.error("The file of a removed project cannot be moved aside", { slug, error });
    }
    this.places.forget(project);
    this.#reconciliation.forget(project);
    this.quotas.forget(project);
  }

  /**
   * Exports a repository to a file and returns its path; the caller removes the file.
   *
   * @param withoutBranches beginnings of the names of branches that a stream for Git leaves out
   */
  async export(
    project: Project,
    format: "git" | "fossil",
    { signal, withoutBranches }: {
      readonly signal?: AbortSignal;
      readonly withoutBranches?: readonly string[];
    } = {},
  ): Promise<string> {
    const folder = await Deno.makeTempDir({ dir: this.files.folder, prefix: ".export-" });
    const target = join(folder, format === "git" ? "stream" : "repository");
    const options = signal === undefined ? {} : { signal };
    await this.read(project, async (repository) => {
      const what = { target, ...withoutBranches && { withoutBranches } };
      if (format === "git") await repository.exportGit(what, options);
      else await repository.backUp(target, options);
    });
    return target;
  }

  /** What the workers of the repositories do. */
  get load(): PoolLoad {
    return this.#pool.load;
  }

  /**
   * Waits for running writes and closes every file. A write that takes long is given up; the next
   * start settles it.
   */
  async close(): Promise<void> {
    await this.takeovers.close();
    const idle = this.#turns.idle();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#scheduler.after(CLOSING_MS, resolve);
    await Promise.race([idle, late]);
    cancel();
    await this.#pool.close();
    await idle;
    await this.downloads.close();
  }

  /** Waits until nothing is written to a project, and checks that the caller may still write then. */
  async #turnOf(project: Pick<Project, "id">, caller: Caller | null): Promise<Disposable> {
    this.#waiting.close(project.id);
    const turn = await this.#turns.acquire(project.id);
    try {
      if (caller !== null) await this.#confirm(caller);
      this.homes.requireTaken(project);
      return turn;
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
  }

  /** @throws if the caller is halted, or may not write any more */
  async #confirm(caller: Caller): Promise<void> {
    this.#halts.requireGoing(caller.principal);
    await caller.confirm?.();
  }

  async #bytesOf(project: Pick<Project, "id" | "slug">): Promise<number> {
    return (await this.files.use(
      project,
      (repository) => repository.received({ after: null, limit: 0 }),
    ))
      .bytes;
  }

  #nextDate(id: string): number {
    const date = Math.max(this.#scheduler.now(), (this.#lastDates.get(id) ?? 0) + 1);
    this.#lastDates.set(id, date);
    return date;
  }
}

/** Most projects of which a value is remembered. */
const MAX_KEPT = 1000;

/** Remembers one small value of each repository until any program changes the repository's file. */
class KeptReads<Value> {
  readonly #files: RepositoryFiles;
  readonly #read: (repository: PooledRepository) => Promise<Value>;
  /** By the project's id. */
  readonly #known = new BoundedMap<string, { readonly state: string; readonly value: Value }>(
    MAX_KEPT,
  );

  constructor(files: RepositoryFiles, read: (repository: PooledRepository) => Promise<Value>) {
    this.#files = files;
    this.#read = read;
  }

  /**
   * The value of a project, never older than the call.
   *
   * @throws ServiceError in place of the engine's errors
   */
  async of(project: Project): Promise<Value> {
    const state = stateOfFileNow(this.#files.pathOf(project));
    const known = this.#known.get(project.id);
    if (known !== undefined && known.state === state) return known.value;
    const value = await this.#files.use(project, this.#read);
    if (state !== null) this.#known.set(project.id, { state, value });
    return value;
  }
}

/** Builds and updates search indexes in the background, one after the other. */
class SearchIndexes {
  readonly #files: RepositoryFiles;
  readonly #prepareClones: (project: Pick<Project, "id" | "slug">) => Promise<void>;
  readonly #log: Log;
  /** Projects whose update runs or waits, by id. */
  readonly #waiting = new Set<string>();
  #last: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly files: RepositoryFiles;
    readonly prepareClones: (project: Pick<Project, "id" | "slug">) => Promise<void>;
    readonly log: Log;
  }) {
    this.#files = options.files;
    this.#prepareClones = options.prepareClones;
    this.#log = options.log;
  }

  /**
   * Updates the index of a project in the background, unless that is due already.
   *
   * @param wants.forClones whether to make what `git clone` gets, too
   */
  update(
    project: Pick<Project, "id" | "slug">,
    { forClones = false }: { readonly forClones?: boolean } = {},
  ): void {
    if (this.#waiting.has(project.id)) return;
    this.#waiting.add(project.id);
    this.#last = this.#last.then(() => this.#update(project, forClones));
  }

  /** Builds the index of a project in the background if there is none. */
  async buildIfMissing(project: Pick<Project, "id" | "slug">): Promise<void> {
    const path = searchIndexPath(this.#files.pathOf(project));
    const isMissing = await Deno.stat(path).then(() => false, () => true);
    if (isMissing) this.update(project);
  }

  async #update(project: Pick<Project, "id" | "slug">, forClones: boolean): Promise<void> {
    try {
      await this.#files.use(project, (repository) => repository.updateIndex());
      if (forClones) await this.#prepareClones(project);
    } catch (error) {
      // The next search updates the index.
      if (error instanceof NotFound || error instanceof Unavailable) return;
      this.#log.warn("A search index cannot be updated", { slug: project.slug, error });
    } finally {
      this.#waiting.delete(project.id);
    }
  }
}

/** Bytes of the pack that is kept beside a repository for its clones. */
const MAX_KEPT_PACK = 1024 * 1024 * 1024;

/** Opens a pool that logs what does not end in time. */
function openPool({ folder, startsProcesses, log }: ProjectRepositoriesOptions): RepositoryPool {
  return new RepositoryPool({
    ...startsProcesses === true && repositoryProcesses(folder),
    onStuck: (call) =>
      log.warn("A call of a repository did not end in time; its worker is ended", { ...call }),
    onUnusable: (reason) => log.warn("The worker of repositories cannot start", { reason }),
  });
}
