import { join } from "node:path";
import { Conflict, NotFound, ServiceError, TooMany } from "../../kernel/errors.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import type { Log } from "../../kernel/log.ts";
import { OutboundClient, type Resolve } from "../../kernel/outbound/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import {
  GitUpstream,
  importFromGit,
  type ImportProgress,
  NoFossilRepository,
  NoGitRepository,
  pullFromFossil,
  type Remote,
  RemoteError,
  Upstream,
} from "../mirrors/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { ImportNotes } from "./import_notes.ts";
import type { ImportRequest, ImportView } from "./schemas.ts";

/** Most imports that run at once. They write one after the other. */
const MAX_RUNNING = 8;
/** Ended imports that are remembered until the server ends. */
const MAX_REMEMBERED = 200;
/** The name of a user where only a token counts. */
const ANY_USER = "git";

export interface ImportsOptions {
  readonly repositories: ProjectRepositories;
  readonly workspaces: Pick<Workspaces, "activeBranches">;
  readonly space: Pick<FreeSpace, "require">;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Whether other servers may have local and private addresses. */
  readonly allowPrivate: boolean;
  readonly resolve?: Resolve;
  /** The most bytes of a pack, and of an answer of a Fossil repository. */
  readonly maxBytes: { readonly pack: number; readonly answer: number };
  /** The longest import, in milliseconds. */
  readonly timeLimit: number;
}

/** An import that runs, or has ended. */
interface Job {
  view: ImportView;
  readonly cancel: AbortController;
  ended: Promise<void>;
}

/**
 * Fills empty projects from Git and Fossil repositories elsewhere, in the background. Nothing of an
 * import is stored before all of it is there, and its password never: one that the end of the server
 * interrupts is told as failed, and begins anew.
 */
export class Imports {
  readonly #options: ImportsOptions;
  readonly #notes: ImportNotes;
  readonly #closing = new AbortController();
  /** By the project's id. */
  readonly #running = new Map<string, Job>();
  readonly #ended = new BoundedMap<string, ImportView>(MAX_REMEMBERED);

  constructor(options: ImportsOptions) {
    this.#options = options;
    this.#notes = new ImportNotes(options.repositories.files.folder);
  }

  /**
   * Starts an import.
   *
   * @throws Conflict if the project is not empty, or has an import that runs; TooMany
   */
  async start(project: Project, request: ImportRequest, caller: Caller): Promise<ImportView> {
    await this.#options.repositories.requireEmpty(project);
    if (this.#running.has(project.id)) {
      throw new Conflict("An import into this project is running: wait for it, or cancel it");
    }
    if (this.#running.size >= MAX_RUNNING) {
      throw new TooMany("Too many imports are running; try again later");
    }
    const url = new URL(request.url);
    const { username = ANY_USER, password } = request;
    const credentials = password === undefined ? null : { username, password };
    const job: Job = {
      view: beginning({ url: url.href, started_at: this.#now() }),
      cancel: new AbortController(),
      ended: Promise.resolve(),
    };
    this.#running.set(project.id, job);
    job.ended = this.#run(project, { url, credentials }, { job, caller });
    return job.view;
  }

  /**
   * The import that runs, the last one that has ended since the start of the server, or one that the end
   * of the server has interrupted.
   *
   * @throws NotFound if there is none
   */
  async show(project: Project): Promise<ImportView> {
    const { id, slug } = project;
    const view = this.#running.get(id)?.view ?? this.#ended.get(id) ??
      await this.#interrupted(project);
    if (view === null) throw new NotFound(`Nothing was imported into "${slug}" from elsewhere`);
    return view;
  }

  async #interrupted(project: Project): Promise<ImportView | null> {
    const note = await this.#notes.read(project);
    if (note === null) return null;
    const isEmpty = await this.#options.repositories.requireEmpty(project).then(
      () => true,
      (error) => {
        if (error instanceof Conflict) return false;
        throw error;
      },
    );
    return {
      ...beginning(note),
      state: "failed",
      error: isEmpty
        ? "The server ended during the import: nothing was stored, so start it again"
        : "The server ended during the import: the project has commits, so look whether all are there",
    };
  }

  /**
   * Cancels the import that runs, and waits for its end.
   *
   * @throws NotFound if there was none; Conflict if it has ended
   */
  async cancel(project: Project): Promise<ImportView> {
    const job = this.#running.get(project.id);
    if (job === undefined) {
      await this.show(project);
      throw new Conflict("The import has ended already");
    }
    job.cancel.abort();
    await job.ended;
    return job.view;
  }

  /** Waits until no import runs. */
  async idle(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** Ends what runs. */
  async close(): Promise<void> {
    this.#closing.abort(new RemoteError("The server ended"));
    await this.idle();
  }

  /** Runs an import and notes how it ended. Never rejects. */
  async #run(
    project: Project,
    remote: Remote,
    { job, caller }: { readonly job: Job; readonly caller: Caller },
  ): Promise<void> {
    const note = (changes: Partial<ImportView>) => {
      job.view = { ...job.view, ...changes };
    };
    try {
      await this.#notes.begin(project, job.view);
      const { timeLimit } = this.#options;
      const timeout = AbortSignal.timeout(timeLimit);
      const signal = AbortSignal.any([job.cancel.signal, this.#closing.signal, timeout]);
      const imported = await this.#import(project, remote, { caller, signal, onProgress: note });
      const { checkins } = imported;
      note({ state: "done", phase: "writing", done: checkins, total: checkins, ...imported });
    } catch (error) {
      const isCancelled = job.cancel.signal.aborted;
      note(isCancelled ? { state: "cancelled" } : this.#failureOf(error, project));
    }
    note({ ended_at: this.#now() });
    // What the end of the server interrupts is told by the next start.
    if (!this.#closing.signal.aborted || job.view.state === "done") await this.#forget(project);
    this.#running.delete(project.id);
    this.#ended.set(project.id, job.view);
  }

  async #forget(project: Project): Promise<void> {
    try {
      await this.#notes.end(project);
    } catch (error) {
      this.#options.log.error("The note of an import cannot be removed", { error });
    }
  }

  async #import(
    project: Project,
    remote: Remote,
    { caller, signal, onProgress }: {
      readonly caller: Caller;
      readonly signal: AbortSignal;
      onProgress(progress: ImportProgress): void;
    },
  ): Promise<{ readonly checkins: number; readonly notices: ImportView["notices"] }> {
    const { repositories, space, scheduler, maxBytes } = this.#options;
    const client = new OutboundClient(this.#options);
    const now = scheduler.now();
    let upstream: GitUpstream;
    try {
      const git = { remote, client, space, maxBytes: maxBytes.pack, signal };
      upstream = await GitUpstream.ask(git);
    } catch (error) {
      if (!(error instanceof NoGitRepository)) throw error;
      await this.#importFossil(project, remote, { caller, signal, client, now });
      return { checkins: await this.#checkinsOf(project), notices: null };
    }
    const origin = originOf(caller);
    const { checkins, report: { notices } } = await importFromGit(project, {
      repositories,
      upstream,
      caller,
      origin,
      now,
      signal,
      onProgress,
    });
    return { checkins, notices: { counts: { ...notices.counts }, first: [...notices.first] } };
  }

  async #importFossil(
    project: Project,
    remote: Remote,
    { caller, signal, client, now }: {
      readonly caller: Caller;
      readonly signal: AbortSignal;
      readonly client: OutboundClient;
      readonly now: number;
    },
  ): Promise<void> {
    const { repositories, workspaces, space, maxBytes } = this.#options;
    const folder = await Deno.makeTempDir({ dir: repositories.files.folder, prefix: ".download-" });
    try {
      const answers = { remote, client, folder, space, maxBytes: maxBytes.answer, signal };
      const upstream = new Upstream(answers);
      const clone = join(folder, "clone");
      const pull = { repositories, workspaces, upstream, clone, caller, now, signal };
      await pullFromFossil(project, pull);
    } catch (error) {
      if (!(error instanceof NoFossilRepository)) throw error;
      throw new RemoteError(
        `Neither a Git nor a Fossil repository answers at ${remote.url.href}`,
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }

  async #checkinsOf(project: Project): Promise<number> {
    const { repositories } = this.#options;
    const { total } = await repositories.read(
      project,
      (repository) => repository.timeline({ limit: 0 }),
    );
    return total;
  }

  #failureOf(error: unknown, { slug }: Project): Partial<ImportView> {
    if (error instanceof DOMException && error.name === "TimeoutError") {
      return { state: "failed", error: "It took too long" };
    }
    const isKnown = error instanceof RemoteError || error instanceof ServiceError;
    if (!isKnown) this.#options.log.error("An import failed", { slug, error });
    const reason = isKnown ? error.message : "An internal error; see the log";
    return { state: "failed", error: reason };
  }

  #now(): string {
    return new Date(this.#options.scheduler.now()).toISOString();
  }
}

/** An import that begins. */
function beginning({ url, started_at }: Pick<ImportView, "url" | "started_at">): ImportView {
  return {
    url,
    state: "running",
    phase: "asking",
    done: 0,
    total: null,
    started_at,
    ended_at: null,
    error: null,
    checkins: null,
    notices: null,
  };
}
