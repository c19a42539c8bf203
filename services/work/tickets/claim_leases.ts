import { type Change, type Database, Unchanged } from "../../engines/database/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { hasEnded, type Projects } from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { ClaimBook, ClaimStatements } from "./claim_book.ts";
import type { Claim, ClaimOutcome, Holder } from "./records.ts";
import type { Log } from "../../kernel/log.ts";
import { TimedSweep } from "../../kernel/sweep.ts";

/** Activity renews a lease at most once in this time, or in this part of the lease. */
const RENEWAL_MS = 60_000;
const RENEWAL_PART = 0.01;

export interface ClaimLeasesOptions {
  readonly database: Pick<Database, "commit">;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly statements: Pick<ClaimStatements, "renewal">;
  readonly scheduler: Pick<Scheduler, "now">;
  readonly projects: Pick<Projects, "settingsOf">;
}

/** Decides whether claims hold: until their lease expires or their holder is revoked. */
export class ClaimLeases {
  readonly #options: ClaimLeasesOptions;

  constructor(options: ClaimLeasesOptions) {
    this.#options = options;
  }

  /** Whether a claim that has not ended still holds. */
  isLive(claim: Claim): boolean {
    const isRunning = claim.frozenAt !== null || claim.expiresAt > this.#options.scheduler.now();
    return isRunning && !this.isRevoked(claim.holder);
  }

  isRevoked(holder: Holder): boolean {
    return hasEnded(holder, this.#options.accounts);
  }

  /** The outcome of a claim that holds no more, even if its end is not written yet. */
  outcomeOf(claim: Claim): ClaimOutcome {
    return claim.outcome ?? this.unattended(claim);
  }

  /** Why an unended claim no longer holds. */
  unattended({ holder }: Claim): "lapsed" | "revoked" {
    return this.isRevoked(holder) ? "revoked" : "lapsed";
  }

  /** The end of a lease that begins now, in Unix milliseconds. */
  expiryFrom(projectId: string, now: number): number {
    return now + this.#millisecondsOf(projectId);
  }

  /**
   * Renews a lease.
   *
   * @param always whether to renew the lease even if it was renewed a moment ago
   * @returns null if the claim has ended meanwhile
   */
  async renew(claim: Claim, { always = false } = {}): Promise<Claim | null> {
    const { database, statements } = this.#options;
    const renewed = this.renewed(claim, { always });
    if (renewed === claim) return claim;
    try {
      await database.commit({ statements: [statements.renewal(renewed)] });
    } catch (error) {
      if (error instanceof Unchanged) return null;
      throw error;
    }
    return renewed;
  }

  /** The change that renews the leases of these claims, for an observer of received artifacts. */
  renewals(claims: readonly Claim[]): Change {
    const { statements } = this.#options;
    const renewed = claims.map((claim) => this.renewed(claim)).filter((claim, index) =>
      claim !== claims[index]
    );
    return { statements: renewed.map((claim) => statements.renewal(claim, { mustChange: false })) };
  }

  /** The claim with the lease that activity now gives it, or itself if that is hardly longer. */
  renewed(claim: Claim, { always = false } = {}): Claim {
    if (claim.frozenAt !== null) return claim;
    const expiresAt = this.expiryFrom(claim.projectId, this.#options.scheduler.now());
    const least = Math.min(RENEWAL_MS, this.#millisecondsOf(claim.projectId) * RENEWAL_PART);
    const gain = expiresAt - claim.expiresAt;
    return gain <= 0 || (!always && gain < least) ? claim : { ...claim, expiresAt };
  }

  #millisecondsOf(projectId: string): number {
    return this.#options.projects.settingsOf(projectId).claim_seconds * 1000;
  }
}

/** Pause before another attempt to end a claim. */
const RETRY_MS = 5000;

interface ClaimExpiryOptions {
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
