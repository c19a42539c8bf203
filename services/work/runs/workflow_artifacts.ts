/** The artifacts of workflows, as the actions that upload and download them know them. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Conflict, Forbidden, Invalid, NotFound, TooLarge } from "../../kernel/errors.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { Principal } from "../../people/identity/mod.ts";
import { receiveUpload, type SentBody } from "../projects/mod.ts";
import { type Lease, leaseGone, type Leases } from "../runners/mod.ts";
import type { JobArtifacts } from "./artifacts.ts";
import type { Runs } from "./runs.ts";

/** Most bytes of one part of a file. */
const MAX_PART_BYTES = 64 * 1024 * 1024;
/** Most bytes of a file as it is sent. */
const MAX_SENT_BYTES = 2 * 1024 * 1024 * 1024;
/** Most unfinished files of a job, and most bytes of these together. */
const MAX_UNFINISHED = 20;
const MAX_UNFINISHED_BYTES = MAX_SENT_BYTES;

export interface WorkflowArtifactsOptions {
  readonly leases: Leases;
  readonly runs: Runs;
  readonly jobArtifacts: JobArtifacts;
  /** Where parts are until their file is whole. */
  readonly folder: string;
  readonly space: Pick<FreeSpace, "require">;
}

/** Which bytes of a file a part has: the last one included. */
export interface PartRange {
  readonly start: number;
  readonly end: number;
  readonly total: number;
}

/** A file of an artifact. */
export interface ArtifactFile {
  readonly jobId: string;
  /** `ARTIFACT/path`. */
  readonly path: string;
  readonly bytes: number;
}

/** Files that jobs of a run leave for later jobs and for people, each below the name of its artifact. */
export class WorkflowArtifacts {
  readonly #options: WorkflowArtifactsOptions;
  /** The parts of a file come one after the other. */
  readonly #turns = new Semaphore({
    permitsPerKey: 1,
    refusal: () => new Conflict("Too many parts of this file come at once"),
  });

  constructor(options: WorkflowArtifactsOptions) {
    this.#options = options;
  }

  /**
   * The lease of the job whose token a caller has.
   *
   * @throws Forbidden; Conflict if it has ended
   */
  leaseOf({ kind, name }: Pick<Principal, "kind" | "name">): Lease {
    if (kind !== "job") throw new Forbidden("This takes the token of a job that runs");
    const lease = this.#options.leases.of(name.slice(name.indexOf(":") + 1));
    if (lease === null) throw leaseGone();
    return lease;
  }

  /** The files of the run of a job, by path; of those with one path, that of the newest job. */
  async list({ jobId }: Lease): Promise<readonly ArtifactFile[]> {
    const { runs, jobArtifacts } = this.#options;
    const job = await runs.store.job(jobId);
    if (job === null) throw leaseGone();
    const jobs = await runs.store.jobsOf([job.runId]);
    const files = await jobArtifacts.ofJobs(jobs.map(({ id }) => id));
    return [...new Map(files.map((file) => [file.path, file])).values()];
  }

  /**
   * Opens a file of the run of a job.
   *
   * @throws NotFound
   */
  async open(lease: Lease, path: string): Promise<{ file: Deno.FsFile; bytes: number }> {
    const found = (await this.list(lease)).find((file) => file.path === path);
    if (found === undefined) throw new NotFound(`The run has kept no file "${path}"`);
    const { jobArtifacts } = this.#options;
    const { uuid, bytes } = await jobArtifacts.find(found.jobId, path);
    const file = await jobArtifacts.open({ id: found.jobId, projectId: lease.projectId }, { uuid });
    return { file, bytes };
  }

  /**
   * Takes a file, or a part of it; the last part completes it.
   *
   * @throws Invalid; Conflict if a part is missing before it, or too many files are unfinished;
   * TooLarge, InsufficientStorage
   */
  async receive(
    lease: Lease,
    path: string,
    { body, range, isCompressed, stallMs }: {
      readonly body: SentBody;
      /** Null for a whole file. */
      readonly range: PartRange | null;
      readonly isCompressed: boolean;
      readonly stallMs: number;
    },
  ): Promise<void> {
    const { jobArtifacts } = this.#options;
    const keep = async (sent: SentBody["body"]) => {
      const whole = isCompressed ? sent?.pipeThrough(new DecompressionStream("gzip")) : sent;
      const confirm = () => Promise.resolve(void this.#require(lease));
      const content = { body: whole ?? null, headers: new Headers() };
      await jobArtifacts.put(lease, path, content, { stallMs, confirm });
    };
    if (range === null || (range.start === 0 && range.end + 1 === range.total)) {
      return await keep(body.body);
    }
    const part = await this.#append(lease, path, { body, range, stallMs });
    if (part === null) return;
    try {
      const file = await Deno.open(part);
      await keep(file.readable);
    } finally {
      await Deno.remove(part).catch(() => {});
    }
  }

  /** @returns the path of the file once it is whole; null before */
  async #append(
    lease: Lease,
    path: string,
    { body, range: { start, end, total }, stallMs }: {
      readonly body: SentBody;
      readonly range: PartRange;
      readonly stallMs: number;
    },
  ): Promise<string | null> {
    if (total > MAX_SENT_BYTES || end < start || end >= total) {
      throw new Invalid("The range of the part is wrong");
    }
    const { folder, space } = this.#options;
    const name = createHash("sha256").update(path).digest("hex").slice(0, 32);
    const own = `${lease.jobId}-${lease.generation}-`;
    const whole = join(folder, `${own}${name}.part`);
    using _ = await this.#turns.acquire(whole);
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    await this.#requireRoom(own, whole, end + 1);
    const maxBytes = Math.min(end - start + 1, MAX_PART_BYTES);
    const check = () => space.require();
    await using part = await receiveUpload(folder, body, { stallMs, maxBytes, check });
    using file = await Deno.open(whole, { create: true, write: true });
    const { size } = await file.stat();
    if (start > size || part.bytes !== end - start + 1) {
      throw new Conflict(`The next byte is ${size}`);
    }
    await file.truncate(start);
    await file.seek(start, Deno.SeekMode.Start);
    const sent = await Deno.open(part.path);
    await sent.readable.pipeTo(file.writable, { preventClose: true });
    return end + 1 === total ? whole : null;
  }

  /** @param bytes of the file as far as it will be there */
  async #requireRoom(own: string, whole: string, bytes: number): Promise<void> {
    const { folder } = this.#options;
    const sizes: number[] = [];
    for await (const { name } of Deno.readDir(folder)) {
      const path = join(folder, name);
      if (name.startsWith(own) && path !== whole) sizes.push(await sizeOf(path));
    }
    if (sizes.length >= MAX_UNFINISHED) {
      throw new Conflict(
        `At most ${MAX_UNFINISHED} files may be unfinished: send the rest of them`,
      );
    }
    if (sizes.reduce((sum, size) => sum + size, bytes) > MAX_UNFINISHED_BYTES) {
      throw new TooLarge(`Unfinished files have at most ${MAX_UNFINISHED_BYTES} bytes together`);
    }
  }

  #require({ jobId, generation }: Lease): void {
    if (this.#options.leases.of(jobId)?.generation !== generation) throw leaseGone();
  }
}

/** The size of a file in bytes; 0 if it has just been completed. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}
