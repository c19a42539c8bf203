import { join } from "node:path";
import { type Database, statement } from "../../engines/database/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { type Scheduler, untilMultiple } from "../../kernel/scheduler.ts";
import { inBackground } from "../../kernel/sweep.ts";
import { CACHES } from "./caches.ts";

/** How often leftovers are looked for, in milliseconds. */
const INTERVAL = 60 * 60 * 1000;

/** After how long a cache goes that no job has read, in milliseconds. */
const CACHE_LIFETIME = 30 * 24 * 60 * 60 * 1000;

/** How old a file is that nothing names and that nobody writes any more, in milliseconds. */
const GRACE = 24 * 60 * 60 * 1000;

/** Jobs that one query asks for. */
const STEP = 200;

/** The folder of what arrives, among those of the projects. */
export const ARRIVING = ".arriving";

/** The form of the ids of projects and jobs. */
const ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

export interface LeftoversOptions {
  readonly database: Database;
  /** Has a folder for each project, and in it one for each job. */
  readonly folder: string;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Removes files of jobs that the database knows no more, caches that nobody reads, and what has never
 * arrived whole.
 */
export class Leftovers {
  readonly #options: LeftoversOptions;
  #cancel: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: LeftoversOptions) {
    this.#options = options;
  }

  /** Starts to look each hour. */
  start(): void {
    const { scheduler, log } = this.#options;
    this.#cancel = scheduler.after(untilMultiple(INTERVAL, scheduler.now()), () => {
      this.#running = inBackground(log, "remove files of old jobs", () => this.run())
        .then(() => {
          if (!this.#isClosed) this.start();
        });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#running;
  }

  /** Removes what is left over. */
  async run(): Promise<void> {
    const { folder, database, scheduler } = this.#options;
    const before = scheduler.now() - CACHE_LIFETIME;
    const old = database.tables.deleteFrom("check_caches").where("used_at", "<", before);
    await database.commit({ statements: [statement(old)] });
    await removeOld(join(folder, ARRIVING), new Set());
    for (const project of await namesIn(folder)) {
      if (!ID.test(project) || this.#isClosed) continue;
      const jobs = (await namesIn(join(folder, project))).filter((name) => ID.test(name));
      for (let start = 0; start < jobs.length; start += STEP) {
        await this.#removeJobs(project, jobs.slice(start, start + STEP));
      }
      await this.#removeCaches(project);
    }
  }

  async #removeJobs(project: string, ids: readonly string[]): Promise<void> {
    const { folder, database } = this.#options;
    const rows = await database.tables.selectFrom("check_jobs").select("id").where("id", "in", ids)
      .execute();
    const known = new Set(rows.map(({ id }) => id));
    for (const id of ids) {
      if (known.has(id)) continue;
      await Deno.remove(join(folder, project, id), { recursive: true }).catch(ignoreMissing);
    }
  }

  async #removeCaches(project: string): Promise<void> {
    const { folder, database } = this.#options;
    const place = join(folder, project, CACHES);
    const rows = await database.tables.selectFrom("check_caches").select("file")
      .where("project_id", "=", project).execute();
    // One that just arrives has no row yet.
    await removeOld(place, new Set(rows.map(({ file }) => file)));
  }
}

/** Removes what is in a folder, but for what is known, and what may still be written. */
async function removeOld(folder: string, known: ReadonlySet<string>): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (known.has(name) || !await isOld(path)) continue;
    await Deno.remove(path, { recursive: true }).catch(ignoreMissing);
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  } catch (error) {
    ignoreMissing(error);
    return [];
  }
}

async function isOld(path: string): Promise<boolean> {
  try {
    const { mtime } = await Deno.stat(path);
    return mtime !== null && mtime.getTime() < Date.now() - GRACE;
  } catch (error) {
    ignoreMissing(error);
    return false;
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
