import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { Sweep } from "../sweep.ts";
import type { ClaimBook } from "./claim_book.ts";
import type { Claim, Holder } from "./records.ts";

/** Longest time of one timer: `setTimeout` cannot wait longer than 24 days. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** Pause before another attempt to end a claim. */
const RETRY_MS = 5000;

export interface ClaimExpiryOptions {
  readonly book: ClaimBook;
  readonly scheduler: Scheduler;
  readonly log: Log;
  isRevoked(holder: Holder): boolean;
  /** Ends a claim, unless it was renewed or ended meanwhile. */
  end(claim: Claim, outcome: "lapsed" | "revoked"): Promise<void>;
}

/** Ends expired claims, and those of revoked accounts. */
export class ClaimExpiry {
  readonly #options: ClaimExpiryOptions;
  #dueAt = Infinity;
  #cancel = () => {};
  readonly #sweeps = new Sweep(() => this.#examineAll());
  #isClosed = false;

  constructor(options: ClaimExpiryOptions) {
    this.#options = options;
  }

  /** Ends the claims that expired while muster was down, and waits for the next one. */
  start(): void {
    this.#sweep();
  }

  /** Looks at every claim again. */
  again(): void {
    this.#sweep();
  }

  /** Schedules a check for the time at which a claim expires. */
  expect(expiresAt: number): void {
    if (this.#isClosed || expiresAt >= this.#dueAt) return;
    this.#cancel();
    this.#dueAt = expiresAt;
    const now = this.#options.scheduler.now();
    const wait = Math.min(Math.max(expiresAt - now, 0), MAX_WAIT_MS);
    this.#cancel = this.#options.scheduler.after(wait, () => this.#sweep());
  }

  /** Ends every claim of an account. */
  endAllOf(accountId: string): void {
    for (const { holder } of this.#options.book.all()) {
      if (holder.key === accountId) return this.#sweep();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#sweeps.idle();
  }

  #sweep(): void {
    if (this.#isClosed) return;
    this.#sweeps.start();
  }

  async #examineAll(): Promise<void> {
    if (this.#isClosed) return;
    this.#cancel();
    this.#dueAt = Infinity;
    let next = Infinity;
    for (const claim of [...this.#options.book.all()]) {
      if (this.#isClosed) return;
      next = Math.min(next, await this.#examine(claim));
    }
    if (next < Infinity) this.expect(next);
  }

  /** Ends a claim if it has expired; returns when to check it again. */
  async #examine(claim: Claim): Promise<number> {
    const { scheduler, isRevoked, end, log } = this.#options;
    const revoked = isRevoked(claim.holder);
    if (!revoked && claim.frozenAt !== null) return Infinity;
    if (!revoked && claim.expiresAt > scheduler.now()) return claim.expiresAt;
    try {
      await end(claim, revoked ? "revoked" : "lapsed");
      return Infinity;
    } catch (error) {
      log.warn("An expired claim could not be ended yet", { ticket: claim.ticket, error });
      return scheduler.now() + RETRY_MS;
    }
  }
}
