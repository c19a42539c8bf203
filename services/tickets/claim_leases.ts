import { type Database, Unchanged } from "../database/mod.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import type { ClaimStatements } from "./claim_statements.ts";
import type { Claim, ClaimOutcome, Holder } from "./records.ts";

/** Activity renews a lease that was not renewed within this time, or this part of the lease. */
const RENEWAL_MS = 60_000;
const RENEWAL_PART = 0.01;

export interface ClaimLeasesOptions {
  readonly database: Pick<Database, "commit">;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly statements: Pick<ClaimStatements, "renewal">;
  readonly scheduler: Pick<Scheduler, "now">;
  /** How long a claim lasts after its holder's last write, in seconds. */
  readonly claimSeconds: number;
}

/** How long claims hold: until their time runs out or their holder is revoked. */
export class ClaimLeases {
  readonly #options: ClaimLeasesOptions;

  constructor(options: ClaimLeasesOptions) {
    this.#options = options;
  }

  /** Whether a claim that has not ended still holds. */
  isLive(claim: Claim): boolean {
    return claim.expiresAt > this.#options.scheduler.now() && !this.isRevoked(claim.holder);
  }

  /** Keys of actors without an account are words, or have a colon; ids of accounts are ULIDs. */
  isRevoked({ key }: Holder): boolean {
    if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(key)) return false;
    const account = this.#options.accounts.get(key);
    return account === null || account.revokedAt !== null;
  }

  /** How a claim that no longer holds has ended, or is about to end. */
  outcomeOf(claim: Claim): ClaimOutcome {
    return claim.outcome ?? this.unattended(claim);
  }

  /** Why a claim that nobody has ended no longer holds. */
  unattended({ holder }: Claim): "lapsed" | "revoked" {
    return this.isRevoked(holder) ? "revoked" : "lapsed";
  }

  /** When a lease that begins now ends, in Unix milliseconds. */
  expiryFrom(now: number): number {
    return now + this.#options.claimSeconds * 1000;
  }

  /**
   * Renews a lease.
   *
   * @param always whether to renew one that was renewed a moment ago
   * @returns null where the claim has ended meanwhile
   */
  async renew(claim: Claim, { always = false } = {}): Promise<Claim | null> {
    const { database, scheduler, statements, claimSeconds } = this.#options;
    const expiresAt = this.expiryFrom(scheduler.now());
    const least = Math.min(RENEWAL_MS, claimSeconds * 1000 * RENEWAL_PART);
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
}
