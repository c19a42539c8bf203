// @ts-types="./pg.d.ts"
import type { Client } from "pg";
import type { Scheduler } from "../../../kernel/scheduler.ts";
import {
  LEADER,
  leading,
  LEASE_MILLISECONDS,
  type LeaseClock,
  MARGIN_MILLISECONDS,
  resigning,
  RUNNING,
} from "./lease.ts";

/** How often to look which nodes run, in milliseconds. */
const SURVEY_MILLISECONDS = 1_000;

export interface ElectionOptions {
  readonly node: string;
  readonly clock: LeaseClock;
  readonly scheduler: Pick<Scheduler, "after">;
  /** Called when the leadership of this node has run out: PostgreSQL may hold up a look for longer. */
  readonly onEnded: () => void;
}

/** Which nodes run and which one leads, as of the last look, and whether this one leads. */
export class Election {
  readonly #options: ElectionOptions;
  #running: ReadonlySet<string> = new Set();
  #leader: string | null = null;
  /** Until when this node leads, by the clock of its lease. */
  #leadsUntil = -Infinity;
  #isCandidate = false;
  /** When it last looked at the others. */
  #heldAt = -Infinity;
  #cancelEnd: () => void = () => {};
  #isClosed = false;

  constructor(options: ElectionOptions) {
    this.#options = options;
  }

  /** The nodes whose leases run. */
  get running(): ReadonlySet<string> {
    return this.#running;
  }

  /** The node that leads; null if none does. */
  get leader(): string | null {
    return this.#leader;
  }

  /** Whether this node leads, as long as its own lease runs. */
  get isWon(): boolean {
    return this.#options.clock.now() < this.#leadsUntil;
  }

  /** @returns whether it was a candidate before and is none now, or the other way round */
  stand(isCandidate: boolean): boolean {
    if (this.#isCandidate === isCandidate) return false;
    this.#isCandidate = isCandidate;
    if (!isCandidate) this.#leadsUntil = -Infinity;
    this.#heldAt = -Infinity;
    return true;
  }

  /** Whether it is time to look again. */
  isDue(now: number): boolean {
    return now - this.#heldAt >= SURVEY_MILLISECONDS;
  }

  /**
   * Looks which nodes run and which one leads, and leads if it may and nobody does.
   *
   * @param now by the clock of the lease
   * @returns the change up to which each node is current
   */
  async hold(client: Client, now: number): Promise<ReadonlyMap<string, number>> {
    const { node } = this.#options;
    const isCandidate = this.#isCandidate;
    const standing = isCandidate ? leading(node) : resigning(node);
    if (isCandidate || this.#leader === node) await client.query(...standing);
    const { rows } = await client.query<{ node: string; seen: number }>(...RUNNING);
    const { rows: [leader] } = await client.query<{ node: string }>(...LEADER);
    this.#heldAt = now;
    this.#running = new Set(rows.map(({ node }) => node));
    this.#leader = leader?.node ?? null;
    this.#leadsUntil = isCandidate && this.#isCandidate && this.#leader === node
      ? now + LEASE_MILLISECONDS - MARGIN_MILLISECONDS
      : -Infinity;
    this.#tellOfEnd();
    return new Map(rows.map(({ node, seen }) => [node, seen]));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelEnd();
  }

  #tellOfEnd(): void {
    const { clock, scheduler, onEnded } = this.#options;
    this.#cancelEnd();
    const left = this.#leadsUntil - clock.now();
    if (left <= 0 || this.#isClosed) return;
    this.#cancelEnd = scheduler.after(left + 1, onEnded);
  }
}
