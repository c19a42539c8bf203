import { type Change, type Database, Unchanged } from "../../engines/database/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { hasEnded, type Projects } from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { ClaimStatements } from "./claim_statements.ts";
import type { Claim, ClaimOutcome, Holder } from "./records.ts";

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
