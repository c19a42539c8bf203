import { join } from "node:path";
import { type Database, statement } from "../../engines/database/mod.ts";
import { Invalid, NotFound } from "../../kernel/errors.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { receiveUpload, type SentBody } from "../projects/mod.ts";
import type { Lease } from "../runners/mod.ts";
import type { Receiving } from "./artifacts.ts";
import type { Run } from "./records.ts";
import type { RunStore } from "./store.ts";

/** Most bytes of the caches of a project: the one whose last use is the longest ago goes. */
const MAX_PROJECT_BYTES = 5 * 1024 * 1024 * 1024;

/** Most bytes of one cache. */
const MAX_BYTES = 1024 * 1024 * 1024;

const MAX_KEY = 500;

/** The folder of caches in that of a project. */
export const CACHES = "caches";

/** What all jobs of a project read. */
const PROTECTED = "protected";

export interface JobCachesOptions {
  readonly database: Database;
  readonly store: Pick<RunStore, "job" | "get">;
  readonly folder: string;
  readonly space: Pick<FreeSpace, "require">;
  readonly scheduler: Pick<Scheduler, "now">;
}

/**
 * What jobs leave for later ones. What code on a protected branch has left is read by all jobs of the
 * project; what a review's code has left, by that review's alone.
 */
export class JobCaches {
  readonly #options: JobCachesOptions;

  constructor(options: JobCachesOptions) {
    this.#options = options;
  }

  /**
   * Opens the cache of a key for a job: its review's, or that of protected branches.
   *
   * @throws NotFound if there is none
   */
  async open(
    lease: Lease,
    key: string,
  ): Promise<{ readonly file: Deno.FsFile; readonly bytes: number }> {
    requireKey(key);
    const { database, scheduler } = this.#options;
    const scope = await this.#scopeOf(lease);
    const rows = await database.tables.selectFrom("check_caches").selectAll()
      .where("project_id", "=", lease.projectId).where("key", "=", key)
      .where("scope", "in", [scope, PROTECTED]).execute();
    const row = rows.find((one) => one.scope === scope) ?? rows[0];
    if (row === undefined) throw new NotFound("There is no cache of this key");
    try {
      const file = await Deno.open(this.#placeOf(lease.projectId, row.file));
      const update = database.tables.updateTable("check_caches")
        .set({ used_at: scheduler.now() }).where("project_id", "=", lease.projectId)
        .where("scope", "=", row.scope).where("key", "=", key);
      void database.commitLater({ statements: [statement(update)] }).catch(() => {});
      return { file, bytes: row.bytes };
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new NotFound("There is no cache of this key");
    }
  }

  /**
   * Keeps a cache; it replaces the one of the same key.
   *
   * @throws TooLarge
   */
  async put(
    lease: Lease,
    key: string,
    body: SentBody,
    { stallMs, confirm }: Receiving,
  ): Promise<void> {
    requireKey(key);
    const { database, folder, space, scheduler } = this.#options;
    const { projectId } = lease;
    const scope = await this.#scopeOf(lease);
    const place = join(folder, projectId, CACHES);
    await Deno.mkdir(place, { recursive: true, mode: 0o700 });
    await using upload = await receiveUpload(place, body, {
      stallMs,
      maxBytes: MAX_BYTES,
      check: () => space.require(),
    });
    await confirm();
    const now = scheduler.now();
    const file = newUlid(now);
    await Deno.rename(upload.path, join(place, file));
    const said = { file, bytes: upload.bytes, created_at: now, used_at: now };
    const { tables } = database;
    const all = await tables.selectFrom("check_caches").selectAll()
      .where("project_id", "=", projectId).orderBy("used_at").execute();
    const replaced = all.filter((one) => one.scope === scope && one.key === key);
    const others = all.filter((one) => !replaced.includes(one));
    let bytes = others.reduce((sum, one) => sum + one.bytes, upload.bytes);
    const dropped: typeof others = [];
    for (const one of others) {
      if (bytes <= MAX_PROJECT_BYTES) break;
      bytes -= one.bytes;
      dropped.push(one);
    }
    await database.commit({
      statements: [
        statement(
          tables.insertInto("check_caches").values({ project_id: projectId, scope, key, ...said })
            .onConflict((conflict) =>
              conflict.columns(["project_id", "scope", "key"]).doUpdateSet(said)
            ),
        ),
        ...dropped.map((one) =>
          statement(
            tables.deleteFrom("check_caches").where("project_id", "=", projectId)
              .where("scope", "=", one.scope).where("key", "=", one.key),
          )
        ),
      ],
    });
    for (const one of [...replaced, ...dropped]) {
      await Deno.remove(join(place, one.file)).catch(() => {});
    }
  }

  async #scopeOf({ jobId }: Lease): Promise<string> {
    const { store } = this.#options;
    const job = await store.job(jobId);
    const run = job === null ? null : await store.get(job.runId);
    return scopeOf(run);
  }

  #placeOf(projectId: string, file: string): string {
    return join(this.#options.folder, projectId, CACHES, file);
  }
}

/** Code that has not landed shares nothing; without a review, with nobody but its own check-in. */
function scopeOf(run: Run | null): string {
  if (run?.isTrusted === true) return PROTECTED;
  const review = run?.review ?? null;
  return review === null ? `checkin ${run?.checkin ?? ""}` : `review ${review}`;
}

function requireKey(key: string): void {
  if (key === "" || key.length > MAX_KEY) {
    throw new Invalid(`The key of a cache must have at most ${MAX_KEY} characters`);
  }
}
