import type { Landing, Review } from "../reviews/mod.ts";

/** The project of something. */
export interface InProject {
  readonly slug: string;
}

/** A review that waits for a verdict. */
export interface PendingReview extends InProject {
  readonly review: Review;
  /** Whether the visitor was asked for it; else nobody was. */
  readonly isAsked: boolean;
}

/** A review that came back from the landing queue with conflicts. */
export interface ConflictedLanding extends InProject {
  readonly landing: Landing;
}

/** A ticket whose claims ended too often without a result. */
export interface StruckTicket extends InProject {
  readonly ticket: string;
  readonly title: string;
  readonly strikes: number;
  /** Whether the visitor may offer it to agents again. */
  readonly mayChange: boolean;
}

/** A ticket that an agent holds. Times are Unix milliseconds. */
export interface HeldTicket extends InProject {
  readonly ticket: string;
  readonly title: string;
  readonly agent: string;
  readonly claimedAt: number;
  readonly expiresAt: number;
  /** When the agent was last seen. */
  readonly lastSeen: number | null;
  /** Whether the visitor may end the claim. */
  readonly mayRelease: boolean;
}

/** What waits for a person; each list has at most its limit. */
export interface Waiting {
  readonly reviews: readonly PendingReview[];
  readonly conflicts: readonly ConflictedLanding[];
  readonly struck: readonly StruckTicket[];
  readonly silent: readonly HeldTicket[];
}

/** The work of an agent in all projects. */
export interface AgentWorkload {
  readonly claims: readonly HeldTicket[];
  readonly workspaces: readonly {
    readonly slug: string;
    readonly name: string;
    readonly ticket: string | null;
    /** Unix milliseconds. */
    readonly updatedAt: number;
  }[];
  /** Reviews that are neither merged nor closed. */
  readonly reviews: readonly { readonly slug: string; readonly review: Review }[];
}

/** A check that failed. */
export interface FailedCheck extends InProject {
  readonly checkin: string;
  readonly context: string;
  readonly description: string;
  readonly reporter: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}
