/** The artifacts of workflows, as the actions that upload and download them know them. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Conflict, Forbidden, Invalid, NotFound } from "../../kernel/errors.ts";
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

export interface WorkflowArtifactsOptions {
  readonly leases: Leases;
  readonly runs: Runs;
  readonly jobArtifacts: JobArtifacts;
  /** Where parts are until their file is whole. */
  readonly folder: string;
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
   * @throws Invalid; Conflict if a part is missing before it; TooLarge, InsufficientStorage
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
    const { folder } = this.#options;
    const name = createHash("sha256").update(path).digest("hex").slice(0, 32);
    const whole = join(folder, `${lease.jobId}-${lease.generation}-${name}.part`);
    using _ = await this.#turns.acquire(whole);
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    const maxBytes = Math.min(end - start + 1, MAX_PART_BYTES);
    await using part = await receiveUpload(folder, body, { stallMs, maxBytes });
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

  #require({ jobId, generation }: Lease): void {
    if (this.#options.leases.of(jobId)?.generation !== generation) throw leaseGone();
  }
}
