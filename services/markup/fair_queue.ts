/** Part of the worker's time that one project may use in the long run. */
const SHARE = 1 / 6;
/** Time that a project may use at once, in milliseconds. */
const BURST_MS = 10_000;
/** Nobody is this far ahead, in milliseconds, unless the clock was set back. */
const MAX_AHEAD_MS = 10 * BURST_MS / SHARE;

/** A piece of work for one project. */
export interface QueuedJob {
  readonly project: string;
}

/**
 * Jobs of several projects for one worker. The project that has used the worker least in the last
 * minute is next; equals take turns.
 */
export class FairQueue<Job extends QueuedJob> {
  readonly #now: () => number;
  /** By project; the one whose turn was last is at the end. */
  readonly #jobs = new Map<string, Job[]>();
  /** When each project's use is paid off, in Unix milliseconds. Only projects with recent use. */
  readonly #paidOff = new Map<string, number>();
  #size = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The number of waiting jobs. */
  get size(): number {
    return this.#size;
  }

  /** The number of a project's waiting jobs. */
  sizeOf(project: string): number {
    return this.#jobs.get(project)?.length ?? 0;
  }

  /** Whether a project has used the worker so much that it must wait for a while. */
  isOverdrawn(project: string): boolean {
    return this.#ahead(project) >= BURST_MS / SHARE;
  }

  add(job: Job): void {
    const jobs = this.#jobs.get(job.project);
    if (jobs === undefined) this.#jobs.set(job.project, [job]);
    else jobs.push(job);
    this.#size++;
  }

  /** Removes and returns the next job. */
  next(): Job | null {
    let [chosen, least]: [string | null, number] = [null, Infinity];
    for (const project of this.#jobs.keys()) {
      const ahead = this.#ahead(project);
      if (ahead < least) [chosen, least] = [project, ahead];
    }
    if (chosen === null) return null;
    const [job, ...rest] = this.#jobs.get(chosen) ?? [];
    this.#jobs.delete(chosen);
    if (rest.length > 0) this.#jobs.set(chosen, rest);
    this.#size--;
    return job ?? null;
  }

  /** Removes and returns all jobs. */
  drain(): Job[] {
    const jobs = [...this.#jobs.values()].flat();
    this.#jobs.clear();
    this.#size = 0;
    return jobs;
  }

  /** Counts the time that a project has used the worker, in milliseconds. */
  charge({ project }: QueuedJob, milliseconds: number): void {
    const paidOff = this.#now() + this.#ahead(project) + milliseconds / SHARE;
    for (const known of [...this.#paidOff.keys()]) {
      if (this.#ahead(known) === 0) this.#paidOff.delete(known);
    }
    if (milliseconds > 0) this.#paidOff.set(project, paidOff);
  }

  /** How long it takes to pay off a project's use, in milliseconds. */
  #ahead(project: string): number {
    const ahead = (this.#paidOff.get(project) ?? 0) - this.#now();
    return ahead > MAX_AHEAD_MS ? 0 : Math.max(0, ahead);
  }
}
