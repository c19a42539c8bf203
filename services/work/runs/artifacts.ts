import { join } from "node:path";
import { type Database, statement } from "../../engines/database/mod.ts";
import { Conflict, InsufficientStorage, Invalid, NotFound } from "../../kernel/errors.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { receiveUpload, type SentBody } from "../projects/mod.ts";
import type { Lease } from "../runners/mod.ts";
import type { JobLogs } from "./job_logs.ts";

/** Most artifacts of a job, and most bytes of them together. */
const MAX_ARTIFACTS = 1000;
const MAX_JOB_BYTES = 2 * 1024 * 1024 * 1024;

/** Most bytes of the artifacts of a project. */
const MAX_PROJECT_BYTES = 20 * 1024 * 1024 * 1024;

const MAX_PATH = 500;

export interface JobArtifactsOptions {
  readonly database: Database;
  readonly logs: Pick<JobLogs, "folderOf">;
  /** Where uploads are while they arrive: on the same disk. */
  readonly folder: string;
  readonly space: Pick<FreeSpace, "require">;
  readonly scheduler: Pick<Scheduler, "now">;
}

/** A file that a job has kept. */
export interface Artifact {
  readonly path: string;
  readonly bytes: number;
  readonly created_at: string;
}

/** How to receive a file. */
export interface Receiving {
  /** Longest wait for the next bytes, in milliseconds. */
  readonly stallMs: number;
  /** Called when the file is there: throws if it is not wanted any more. */
  readonly confirm: () => Promise<void>;
}

/** The files that jobs keep, each beside the log of its job. */
export class JobArtifacts {
  readonly #options: JobArtifactsOptions;

  constructor(options: JobArtifactsOptions) {
    this.#options = options;
  }

  /** The artifacts of a job, by path. */
  async list(jobId: string): Promise<Artifact[]> {
    const rows = await this.#options.database.tables.selectFrom("check_artifacts").selectAll()
      .where("job_id", "=", jobId).orderBy("path").execute();
    return rows.map(({ path, bytes, created_at }) => ({
      path,
      bytes,
      created_at: new Date(created_at).toISOString(),
    }));
  }

  /** The artifacts of jobs, those of the newest job last. */
  async ofJobs(
    jobIds: readonly string[],
  ): Promise<readonly { readonly jobId: string; readonly path: string; readonly bytes: number }[]> {
    if (jobIds.length === 0) return [];
    const rows = await this.#options.database.tables.selectFrom("check_artifacts").selectAll()
      .where("job_id", "in", jobIds).orderBy("job_id").orderBy("path").execute();
    return rows.map(({ job_id: jobId, path, bytes }) => ({ jobId, path, bytes }));
  }

  /**
   * Keeps a file; it replaces the one of the same path.
   *
   * @throws Invalid; Conflict if there are too many; InsufficientStorage, TooLarge
   */
  async put(
    lease: Lease,
    path: string,
    body: SentBody,
    { stallMs, confirm }: Receiving,
  ): Promise<Artifact> {
    requirePath(path);
    const { database, logs, folder, space, scheduler } = this.#options;
    const { jobId, projectId, generation } = lease;
    const own = (await this.list(jobId)).filter((one) => one.path !== path);
    if (own.length >= MAX_ARTIFACTS) {
      throw new Conflict(`A job keeps at most ${MAX_ARTIFACTS} files`);
    }
    const used = own.reduce((sum, { bytes }) => sum + bytes, 0);
    const ofProject = await this.#bytesOf(projectId);
    if (ofProject >= MAX_PROJECT_BYTES) {
      throw new InsufficientStorage("The artifacts of the project take all the room that they may");
    }
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    await using upload = await receiveUpload(folder, body, {
      stallMs,
      maxBytes: Math.min(MAX_JOB_BYTES - used, MAX_PROJECT_BYTES - ofProject),
      check: () => space.require(),
      allowsEmpty: true,
    });
    await confirm();
    const now = scheduler.now();
    const file = `artifact-${newUlid(now)}`;
    const place = logs.folderOf({ projectId, jobId });
    await Deno.mkdir(place, { recursive: true, mode: 0o700 });
    await Deno.rename(upload.path, join(place, file));
    const said = { generation, file, bytes: upload.bytes, created_at: now };
    const insertion = database.tables.insertInto("check_artifacts")
      .values({ job_id: jobId, project_id: projectId, path, ...said })
      .onConflict((conflict) => conflict.columns(["job_id", "path"]).doUpdateSet(said));
    const before = await this.#rowOf(jobId, path);
    await database.commit({ statements: [statement(insertion)] });
    if (before !== undefined) await Deno.remove(join(place, before.file)).catch(() => {});
    return { path, bytes: upload.bytes, created_at: new Date(now).toISOString() };
  }

  /** @throws NotFound */
  async find(
    jobId: string,
    path: string,
  ): Promise<{ readonly bytes: number; readonly uuid: string }> {
    const row = await this.#rowOf(jobId, path);
    if (row === undefined) throw new NotFound(`The job has kept no file "${path}"`);
    return { bytes: row.bytes, uuid: row.file };
  }

  /**
   * Opens an artifact that was found.
   *
   * @throws NotFound
   */
  async open(
    { id: jobId, projectId }: { readonly id: string; readonly projectId: string },
    { uuid }: { readonly uuid: string },
  ): Promise<Deno.FsFile> {
    try {
      return await Deno.open(join(this.#options.logs.folderOf({ projectId, jobId }), uuid));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new NotFound("The file is no longer kept");
    }
  }

  async #rowOf(jobId: string, path: string) {
    return await this.#options.database.tables.selectFrom("check_artifacts").selectAll()
      .where("job_id", "=", jobId).where("path", "=", path).executeTakeFirst();
  }

  async #bytesOf(projectId: string): Promise<number> {
    const { bytes } = await this.#options.database.tables.selectFrom("check_artifacts")
      .select(({ fn }) => fn.sum<number>("bytes").as("bytes"))
      .where("project_id", "=", projectId).executeTakeFirstOrThrow();
    return Number(bytes ?? 0);
  }
}

function requirePath(path: string): void {
  const parts = path.split("/");
  const isBad = path === "" || path.length > MAX_PATH || path.includes("\0") ||
    path.includes("\\") || parts.some((part) => part === "" || part === "." || part === "..");
  if (isBad) throw new Invalid("The path of an artifact must stay below the checkout");
}
