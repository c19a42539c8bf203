import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { TimedSweep } from "../../kernel/sweep.ts";
import type { ClaimBook } from "./claim_book.ts";
import type { Claim, Holder } from "./records.ts";

/** Pause before another attempt to end a claim. */
const RETRY_MS = 5000;

export interface ClaimExpiryOptions {
  readonly book: ClaimBook;
  readonly scheduler: Scheduler;
  readonly log: Log;
  isRevoked(holder: Holder): boolean;
  /** Whether the claim's project is on this node. */
  isHere(claim: Claim): boolean;
  /** Ends a claim, unless it was renewed or ended meanwhile. */
  end(claim: Claim, outcome: "lapsed" | "revoked"): Promise<void>;
}

/** Ends expired claims, and those of revoked accounts. */
export class ClaimExpiry {
  readonly #options: ClaimExpiryOptions;
  readonly #sweep: TimedSweep;

  constructor(options: ClaimExpiryOptions) {
    this.#options = options;
    const { scheduler, log } = options;
    this.#sweep = new TimedSweep({
      scheduler,
      log,
      name: "end claims",
      task: () => this.#examineAll(),
    });
  }

  /** Ends the claims that expired while muster was down, and waits for the next one. */
  start(): void {
    this.#sweep.start();
  }

  /** Looks at every claim again. */
  again(): void {
    this.#sweep.start();
  }

  /** Schedules a check for the time at which a claim expires. */
  expect(expiresAt: number): void {
    this.#sweep.expect(expiresAt);
  }

  /** Ends every claim of an account. */
  endAllOf(accountId: string): void {
    for (const { holder } of this.#options.book.all()) {
      if (holder.key === accountId) return this.#sweep.start();
    }
  }

  async close(): Promise<void> {
    await this.#sweep.close();
  }

  /** @returns when the next claim expires */
  async #examineAll(): Promise<number> {
    let next = Infinity;
    for (const claim of [...this.#options.book.all()]) {
      if (this.#sweep.isClosed) break;
      next = Math.min(next, await this.#examine(claim));
    }
    return next;
  }

  /** Ends a claim if it has expired; returns when to check it again. */
  async #examine(claim: Claim): Promise<number> {
    const { scheduler, isRevoked, isHere, end, log } = this.#options;
    if (!isHere(claim)) return Infinity;
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
