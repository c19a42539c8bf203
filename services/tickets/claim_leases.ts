import { type Database, Unchanged } from "../database/mod.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import type { Projects } from "../projects/mod.ts";
import type { Scheduler } from "../scheduler.ts";
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
    return claim.expiresAt > this.#options.scheduler.now() && !this.isRevoked(claim.holder);
  }

  /**
   * Only accounts can be revoked. Their keys are ULIDs; other actors' keys are words or contain a
   * colon.
   */
  isRevoked({ key }: Holder): boolean {
    if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(key)) return false;
    const account = this.#options.accounts.get(key);
    return account === null || account.revokedAt !== null;
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
    const { database, scheduler, statements } = this.#options;
    const expiresAt = this.expiryFrom(claim.projectId, scheduler.now());
    const least = Math.min(RENEWAL_MS, this.#millisecondsOf(claim.projectId) * RENEWAL_PART);
    if (expiresAt <= claim.expiresAt || (!always && expiresAt - claim.expiresAt < least)) {
      return claim;
    }
    const renewed = { ...claim, expiresAt };
    try {
      await database.commit({ statements: [statements.renewal(renewed)] });
    } catch (error) {
      if (error instanceof Unchanged) return null;
      throw error;
    }
    return renewed;
  }

  #millisecondsOf(projectId: string): number {
    return this.#options.projects.settingsOf(projectId).claim_seconds * 1000;
  }
}
