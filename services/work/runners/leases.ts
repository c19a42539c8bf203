import {
  type Database,
  type Directory,
  type Statement,
  statement,
  Unchanged,
} from "../../engines/database/mod.ts";
import { Conflict } from "../../kernel/errors.ts";
import {
  type Identity,
  type Principal,
  type Scope,
  sha256,
  type TokenKey,
  type TokenSource,
} from "../../people/identity/mod.ts";

/** How long a lease lasts without being renewed, in milliseconds. */
export const LEASE_MS = 30_000;

const SCOPES: ReadonlySet<Scope> = new Set(["read"]);

const PURPOSE = "muster job token ";

export interface LeasesOptions {
  readonly database: Database;
  readonly identity: Pick<Identity, "accept" | "ended">;
  readonly key: TokenKey;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** The right of a runner to a job. */
export interface Lease {
  readonly jobId: string;
  readonly projectId: string;
  readonly runnerId: string;
  /** Which lease of the job it is, from 1: an earlier one gives no right any more. */
  readonly generation: number;
  /** Names the job and the generation for runners that know numbers only; never used again. */
  readonly number: number;
}

interface HeldLease extends Lease {
  readonly digest: string;
}

/** Which runner has which job, and the token of each job, which lives as long. */
export class Leases implements Directory, TokenSource {
  readonly tables = ["check_leases"] as const;
  readonly #options: LeasesOptions;
  readonly #byJob = new Map<string, HeldLease>();
  readonly #byDigest = new Map<string, HeldLease>();
  #gone: readonly HeldLease[] = [];

  private constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Reads all leases from the database, and lets the tokens of their jobs in. */
  static async open(options: LeasesOptions): Promise<Leases> {
    const leases = new Leases(options);
    await options.database.keepCurrent(leases);
    options.identity.accept(leases);
    return leases;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("check_leases").selectAll()
      .execute();
    const before = [...this.#byJob.values()];
    this.#byJob.clear();
    this.#byDigest.clear();
    for (const row of rows) {
      this.#hold({
        jobId: row.job_id,
        projectId: row.project_id,
        runnerId: row.runner_id,
        generation: row.generation,
        number: row.number,
        digest: row.token_hash,
      });
    }
    this.#gone = before.filter(({ digest }) => !this.#byDigest.has(digest));
  }

  announce(): void {
    for (const lease of this.#gone) this.#options.identity.ended(tokenIdOf(lease));
    this.#gone = [];
  }

  ownerOf(digest: string): Principal | null {
    const lease = this.#byDigest.get(digest);
    if (lease === undefined) return null;
    return {
      kind: "job",
      id: null,
      name: `job:${lease.jobId}`,
      scopes: SCOPES,
      project: lease.projectId,
      tokenId: tokenIdOf(lease),
      sessionId: null,
    };
  }

  /** The lease of a job; null if nobody has it. */
  of(jobId: string): Lease | null {
    return this.#byJob.get(jobId) ?? null;
  }

  /** How many jobs a runner has. */
  countOf(runnerId: string): number {
    return this.#byJob.values().reduce(
      (sum, lease) => lease.runnerId === runnerId ? sum + 1 : sum,
      0,
    );
  }

  /** How many jobs run in a project. */
  countIn(projectId: string): number {
    return this.#byJob.values().reduce(
      (sum, lease) => lease.projectId === projectId ? sum + 1 : sum,
      0,
    );
  }

  /**
   * The lease that a runner says to have.
   *
   * @throws Conflict if it has ended
   */
  require(runner: Pick<Principal, "id">, jobId: string, generation: number): Lease {
    const lease = this.#byJob.get(jobId);
    if (lease?.runnerId !== runner.id || lease?.generation !== generation) throw leaseGone();
    return lease as Lease;
  }

  /** The lease with a number; null if it has ended. */
  numbered(number: number): Lease | null {
    return this.#byJob.values().find((lease) => lease.number === number) ?? null;
  }

  /** A new lease, the token of its job, and the statement that begins both. */
  async begin(
    asked: Omit<Lease, "number">,
  ): Promise<{ readonly lease: Lease; readonly token: string; readonly statement: Statement }> {
    const { key, database, clock } = this.#options;
    const { jobId, projectId, runnerId, generation } = asked;
    const number = clock() * 1000 + Math.floor(Math.random() * 1000);
    const lease = { ...asked, number };
    const token = (await key.mac(PURPOSE, `${jobId} ${generation}`)).slice(0, 40);
    const digest = sha256(token);
    const insertion = database.tables.insertInto("check_leases").values({
      job_id: jobId,
      project_id: projectId,
      runner_id: runnerId,
      generation,
      number,
      token_hash: digest,
      expires_at: clock() + LEASE_MS,
    });
    const committed = () => this.#hold({ ...lease, digest });
    return { lease, token, statement: statement(insertion, { committed }) };
  }

  /** The statement that ends a lease, if it is still the one of its job; it must be there. */
  ending({ jobId, generation }: Pick<Lease, "jobId" | "generation">): Statement {
    const removal = this.#options.database.tables.deleteFrom("check_leases")
      .where("job_id", "=", jobId).where("generation", "=", generation);
    return statement(removal, { mustChange: true, committed: () => this.#drop(jobId, generation) });
  }

  /**
   * Lets a lease last from now on.
   *
   * @returns until when, in Unix milliseconds
   * @throws Conflict if it has ended
   */
  async renew({ jobId, generation, runnerId }: Lease): Promise<number> {
    const { database, clock } = this.#options;
    const expires_at = clock() + LEASE_MS;
    const update = database.tables.updateTable("check_leases").set({ expires_at })
      .where("job_id", "=", jobId).where("generation", "=", generation)
      .where("runner_id", "=", runnerId);
    try {
      await database.commit({ statements: [statement(update, { mustChange: true })] });
    } catch (error) {
      throw error instanceof Unchanged ? leaseGone() : error;
    }
    return expires_at;
  }

  /** The statement that lets all leases of a runner run out. */
  expiringAllOf(runnerId: string): Statement {
    return statement(
      this.#options.database.tables.updateTable("check_leases").set({ expires_at: 0 })
        .where("runner_id", "=", runnerId),
    );
  }

  /** The leases in some projects, each with its end in Unix milliseconds. */
  async inProjects(
    isAsked: (projectId: string) => boolean,
  ): Promise<readonly (Lease & { readonly expiresAt: number })[]> {
    if (!this.#byJob.values().some(({ projectId }) => isAsked(projectId))) return [];
    const rows = await this.#options.database.tables.selectFrom("check_leases").selectAll()
      .execute();
    return rows.filter((row) => isAsked(row.project_id)).map((row) => ({
      jobId: row.job_id,
      projectId: row.project_id,
      runnerId: row.runner_id,
      generation: row.generation,
      number: row.number,
      expiresAt: row.expires_at,
    }));
  }

  #hold(lease: HeldLease): void {
    this.#byJob.set(lease.jobId, lease);
    this.#byDigest.set(lease.digest, lease);
  }

  #drop(jobId: string, generation: number): void {
    const lease = this.#byJob.get(jobId);
    if (lease?.generation !== generation) return;
    this.#byJob.delete(jobId);
    this.#byDigest.delete(lease.digest);
    this.#options.identity.ended(tokenIdOf(lease));
  }
}

function tokenIdOf({ jobId, generation }: Pick<Lease, "jobId" | "generation">): string {
  return `job ${jobId} ${generation}`;
}

/** The refusal of what an ended lease does. */
export function leaseGone(): Conflict {
  return new Conflict("The job is no longer this runner's: its lease has ended");
}
