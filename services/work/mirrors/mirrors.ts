import { join } from "node:path";
import { type Database, statement } from "../../engines/database/mod.ts";
import { SYSTEM } from "../../engines/events/mod.ts";
import { NotFound, ServiceError } from "../../kernel/errors.ts";
import { type Caller, originOf, seal } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import {
  type Project,
  projectEvent,
  type ProjectRepositories,
  type Projects,
} from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { type MirrorRow, purposeOf, RemoteError, viewOfMirror } from "./records.ts";
import { explainLeft, type MirroredRef, type Pulled } from "./git_pull.ts";
import { pullFossil, pullGit, pushRemote, type RunOptions } from "./runs.ts";
import type { MirrorRequest, MirrorView, RemoteRequest } from "./schemas.ts";

const MINUTE = 60_000;
/** The longest pause between two runs of a failing mirror, unless its interval is longer. */
const MAX_PAUSE = 24 * 60 * MINUTE;
/** Longest text of a failure, in UTF-16 units. */
const MAX_REASON = 1000;
/** The longest wait for the next due mirror. */
const MAX_WAIT = 10 * MINUTE;
export interface MirrorsOptions extends Omit<RunOptions, "signal"> {
  readonly database: Database;
  readonly projects: Pick<Projects, "get">;
  readonly repositories: ProjectRepositories;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** The longest run, in milliseconds. */
  readonly timeLimit: number;
}

/** The columns of one remote. */
interface RemoteColumns {
  readonly url: string | null;
  readonly username: string | null;
  readonly secret: string | null;
}

/**
 * Mirrors of projects: on a schedule, one after the other, a project pulls from an upstream Fossil or
 * Git repository, and its branches and tags are pushed to a Git remote. A failing mirror is tried at
 * longer and longer intervals.
 */
export class Mirrors {
  readonly #options: MirrorsOptions;
  readonly #ended = new AbortController();
  #running: string | null = null;
  #round: Promise<void> | null = null;
  #sweeping: Promise<void> = Promise.resolve();
  #isAsked = false;
  #cancelTimer: () => void = () => {};

  constructor(options: MirrorsOptions) {
    this.#options = options;
  }

  /** Begins with the mirrors that are due, and removes what ended ones left. */
  start(): void {
    this.#options.repositories.homes.onChanged(() => this.#wake());
    this.#wake();
    this.#sweeping = this.#sweep().catch((error) => {
      this.#options.log.error("Left mirrors cannot be removed", { error });
    });
  }

  async #sweep(): Promise<void> {
    const { folder } = this.#options;
    try {
      for await (const { name } of Deno.readDir(folder)) {
        const [id = ""] = name.split(".", 1);
        const isOurs = this.#options.repositories.homes.isHere({ id });
        if (!isOurs || await this.#find(id) === null) {
          await Deno.remove(join(folder, name), { recursive: true });
        }
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Waits until no mirror runs and none is due. */
  async idle(): Promise<void> {
    while (this.#round !== null) await this.#round;
  }

  /** Stops the run in progress and waits for it. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.#cancelTimer();
    await Promise.all([this.#round, this.#sweeping]);
  }

  /** @throws NotFound if the project has no mirror */
  async show(project: Project): Promise<MirrorView> {
    return this.#view(await this.#require(project));
  }

  /** Sets a project's mirror; it runs at once. Returns whether it had none before. */
  async set(
    project: Project,
    { git, fossil, pull, every_minutes }: MirrorRequest,
    caller: Caller,
  ): Promise<{ readonly mirror: MirrorView; readonly isNew: boolean }> {
    const { database, scheduler } = this.#options;
    const before = await this.#find(project.id);
    const remote = await this.#columnsOf(project, git, {
      url: before?.git_url ?? null,
      username: before?.git_username ?? null,
      secret: before?.git_secret ?? null,
    });
    const upstream = await this.#columnsOf(project, fossil, {
      url: before?.fossil_url ?? null,
      username: before?.fossil_username ?? null,
      secret: before?.fossil_secret ?? null,
    });
    const pulled = await this.#columnsOf(project, pull?.git, {
      url: before?.pull_git_url ?? null,
      username: before?.pull_git_username ?? null,
      secret: before?.pull_git_secret ?? null,
    });
    const row = {
      project_id: project.id,
      git_url: remote.url,
      git_username: remote.username,
      git_secret: remote.secret,
      fossil_url: upstream.url,
      fossil_username: upstream.username,
      fossil_secret: upstream.secret,
      pull_git_url: pulled.url,
      pull_git_username: pulled.username,
      pull_git_secret: pulled.secret,
      every_minutes,
      next_run_at: scheduler.now(),
      last_run_at: before?.last_run_at ?? null,
      last_success_at: before?.last_success_at ?? null,
      last_error: null,
      failures: 0,
    };
    const { project_id: _, ...changes } = row;
    await database.commit({
      statements: [
        statement(
          database.tables.insertInto("project_mirrors").values(row)
            .onConflict((conflict) => conflict.column("project_id").doUpdateSet(changes)),
        ),
        // What came from another repository stays, as what people made here.
        ...before?.pull_git_url === pulled.url ? [] : [this.#disowning(project)],
      ],
      events: [this.#event(project, "set", row, caller)],
    });
    this.#wake();
    return { mirror: this.#view(row), isNew: before === null };
  }

  /** The columns of a remote; without a new password, the one for the same URL and user stays. */
  async #columnsOf(
    project: Project,
    remote: RemoteRequest | undefined,
    before: RemoteColumns,
  ): Promise<RemoteColumns> {
    if (remote === undefined) return { url: null, username: null, secret: null };
    const url = new URL(remote.url).href;
    const username = remote.username ?? null;
    if (remote.password !== undefined) {
      const secret = await seal(this.#options.key, purposeOf(project.id), remote.password);
      return { url, username, secret };
    }
    const isSame = before.url === url && before.username === username;
    return { url, username, secret: isSame ? before.secret : null };
  }

  /** @throws NotFound if the project has no mirror */
  async remove(project: Project, caller: Caller): Promise<void> {
    const { database } = this.#options;
    const row = await this.#require(project);
    await database.commit({
      statements: [
        statement(
          database.tables.deleteFrom("project_mirrors").where("project_id", "=", project.id),
        ),
        this.#disowning(project),
      ],
      events: [this.#event(project, "removed", row, caller)],
    });
    if (this.#running !== project.id) await this.#sweep();
  }

  /**
   * Lets a project's mirror run now, after those that are running.
   *
   * @throws NotFound if the project has no mirror
   */
  async run(project: Project): Promise<MirrorView> {
    const row = await this.#require(project);
    const next = { next_run_at: this.#options.scheduler.now() };
    await this.#update(row, next);
    this.#wake();
    return this.#view({ ...row, ...next });
  }

  #view(row: MirrorRow): MirrorView {
    return viewOfMirror(row, this.#running === row.project_id);
  }

  async #find(projectId: string): Promise<MirrorRow | null> {
    const row = await this.#options.database.tables.selectFrom("project_mirrors").selectAll()
      .where("project_id", "=", projectId).executeTakeFirst();
    return row ?? null;
  }

  async #require(project: Project): Promise<MirrorRow> {
    const row = await this.#find(project.id);
    if (row === null) throw new NotFound(`The project "${project.slug}" has no mirror`);
    return row;
  }

  /** Changes a mirror, unless its next run was moved meanwhile. */
  async #update(
    { project_id: id, next_run_at: due }: Pick<MirrorRow, "project_id" | "next_run_at">,
    changes: Partial<Omit<MirrorRow, "project_id">>,
  ): Promise<void> {
    const { database } = this.#options;
    await database.commit({
      statements: [
        statement(
          database.tables.updateTable("project_mirrors").set(changes)
            .where("project_id", "=", id).where("next_run_at", "=", due),
        ),
      ],
      events: [],
    });
  }

  #event(project: Project, action: string, row: MirrorRow, caller: Caller) {
    const by = { origin: originOf(caller), time: this.#options.scheduler.now() };
    const urls = [row.fossil_url, row.pull_git_url, row.git_url].filter((url) => url !== null);
    const host = urls.map((url) => new URL(url).host).join(", ");
    return projectEvent(project, "project.mirror_changed", { action, host }, by);
  }

  /** Starts a round; one that is under way is followed by another. */
  #wake(): void {
    if (this.#ended.signal.aborted) return;
    this.#isAsked = true;
    this.#round ??= this.#rounds().finally(() => {
      this.#round = null;
      if (this.#isAsked) this.#wake();
    });
  }

  async #rounds(): Promise<void> {
    const { scheduler, log } = this.#options;
    this.#cancelTimer();
    let wait = MAX_WAIT;
    try {
      while (this.#isAsked && !this.#ended.signal.aborted) {
        this.#isAsked = false;
        for (let row = await this.#due(); row !== null; row = await this.#due()) {
          await this.#attempt(row);
          if (this.#ended.signal.aborted) return;
        }
        const next = await this.#nextTime();
        if (next !== null) wait = Math.min(MAX_WAIT, Math.max(0, next - scheduler.now()));
      }
    } catch (error) {
      log.error("The mirrors of projects cannot be looked for", { error });
    }
    if (this.#ended.signal.aborted) return;
    this.#cancelTimer = scheduler.after(Math.max(wait, 1000), () => this.#wake());
  }

  /** The mirror that has been due for the longest time. */
  async #due(): Promise<MirrorRow | null> {
    const { scheduler } = this.#options;
    const row = await this.#ours().selectAll("project_mirrors")
      .where("next_run_at", "<=", scheduler.now()).orderBy("next_run_at").limit(1)
      .executeTakeFirst();
    return row ?? null;
  }

  /** The mirrors of the projects on this node. */
  #ours() {
    const { database, repositories: { homes: { self } } } = this.#options;
    return database.tables.selectFrom("project_mirrors")
      .innerJoin("projects", "projects.id", "project_mirrors.project_id")
      .$if(self !== null, (mirrors) => mirrors.where("projects.home", "=", self));
  }

  async #nextTime(): Promise<number | null> {
    const row = await this.#ours().select("next_run_at").orderBy("next_run_at").limit(1)
      .executeTakeFirst();
    return row?.next_run_at ?? null;
  }

  /** Runs a mirror once and notes the result. */
  async #attempt(row: MirrorRow): Promise<void> {
    const { projects, scheduler, log } = this.#options;
    this.#running = row.project_id;
    let failure: string | null = null;
    let left: string | null = null;
    try {
      const held = projects.get(row.project_id);
      if (held !== null) left = await this.#work(held.project, row);
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      const isKnown = error instanceof RemoteError || error instanceof ServiceError;
      failure = isKnown ? error.message : "An internal error; see the log";
      if (!isKnown) log.error("A mirror failed", { error });
    } finally {
      this.#running = null;
    }
    const now = scheduler.now();
    const failed = failure ?? left;
    const failures = failed === null ? 0 : row.failures + 1;
    // A mirror that was set again during the run is due at once, so this result is not its own.
    await this.#update(row, {
      last_run_at: now,
      ...failed === null ? { last_success_at: now } : {},
      last_error: failed?.slice(0, MAX_REASON) ?? null,
      failures,
      // What could not follow is no reason to bring the rest later.
      next_run_at: now + pauseOf(row.every_minutes, failure === null ? 0 : failures),
    });
  }

  /**
   * Pulls, then pushes; a failed pull leaves the push for the next run.
   *
   * @returns what does not follow upstream; null if nothing
   */
  async #work(project: Project, row: MirrorRow): Promise<string | null> {
    const { timeLimit, ...options } = this.#options;
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(timeLimit)]);
    const { fossil_url, pull_git_url, git_url } = row;
    let left: string | null = null;
    if (fossil_url !== null) {
      const upstream = {
        url: fossil_url,
        username: row.fossil_username,
        secret: row.fossil_secret,
      };
      await pullFossil(project, upstream, { ...options, signal });
    }
    if (pull_git_url !== null) {
      const owned = await this.#ownedBy(project);
      const upstream = {
        url: pull_git_url,
        username: row.pull_git_username,
        secret: row.pull_git_secret,
        owned,
      };
      const pulled = await pullGit(project, upstream, { ...options, signal });
      await this.#notePulled(project, owned, pulled);
      left = explainLeft(pulled.left);
    }
    if (git_url !== null) {
      const remote = { url: git_url, username: row.git_username, secret: row.git_secret };
      await pushRemote(project, remote, { ...options, signal });
    }
    return left;
  }

  #disowning(project: Project) {
    const { tables } = this.#options.database;
    return statement(
      tables.deleteFrom("project_mirror_refs").where("project_id", "=", project.id),
    );
  }

  /** The references that a project's pull from Git owns. */
  #ownedBy(project: Project): Promise<MirroredRef[]> {
    return this.#options.database.tables.selectFrom("project_mirror_refs").select(["ref", "object"])
      .where("project_id", "=", project.id).execute();
  }

  async #notePulled(
    project: Project,
    before: readonly MirroredRef[],
    { owned, lost }: Pulled,
  ): Promise<void> {
    const { database, scheduler } = this.#options;
    const was = new Map(before.map(({ ref, object }) => [ref, object]));
    const changed = owned.filter(({ ref, object }) => was.get(ref) !== object);
    for (const { ref } of owned) was.delete(ref);
    if (changed.length === 0 && was.size === 0) return;
    const { tables } = database;
    const gone = [...was.keys()].map((ref) =>
      statement(
        tables.deleteFrom("project_mirror_refs").where("project_id", "=", project.id)
          .where("ref", "=", ref),
      )
    );
    const noted = changed.map(({ ref, object }) =>
      statement(
        tables.insertInto("project_mirror_refs").values({ project_id: project.id, ref, object })
          .onConflict((conflict) =>
            conflict.columns(["project_id", "ref"]).doUpdateSet({ object })
          ),
      )
    );
    const by = { origin: SYSTEM, time: scheduler.now() };
    await database.commit({
      statements: [...gone, ...noted],
      events: lost.map((one) => projectEvent(project, "project.rewound", { ...one }, by)),
    });
  }
}

/** The pause after a run, in milliseconds: doubled by each failure. */
function pauseOf(minutes: number, failures: number): number {
  const pause = minutes * MINUTE;
  return Math.max(pause, Math.min(pause * 2 ** Math.min(failures, 10), MAX_PAUSE));
}
