import type { Selectable } from "kysely";
import type { Tables } from "../../engines/database/mod.ts";
import type { Actor } from "../projects/mod.ts";

/**
 * How a claim ended. Submitted or merged work is a result, and so is a closed ticket; every other end
 * is a strike.
 */
export type ClaimOutcome =
  | "released"
  | "submitted"
  | "merged"
  | "closed"
  | "lapsed"
  | "broken"
  | "revoked";

/** Who holds a claim. */
export type Holder = Pick<Actor, "key" | "name">;

/** A lease on a ticket. Times are Unix milliseconds. */
export interface Claim {
  readonly id: string;
  readonly projectId: string;
  /** The whole id of the ticket. */
  readonly ticket: string;
  /** Counts the claims of the ticket, from 1. */
  readonly generation: number;
  readonly holder: Holder;
  /** The workspace that the claim names, or null. */
  readonly workspace: string | null;
  readonly claimedAt: number;
  readonly expiresAt: number;
  /** Since when the lease stands still, because its holder is halted; or null. */
  readonly frozenAt: number | null;
  readonly endedAt: number | null;
  /** Null while it is active. */
  readonly outcome: ClaimOutcome | null;
}

/**
 * A claim as the API shows it, with the contract's field names and those of the original agent hub.
 */
export interface ClaimView {
  readonly id: string;
  readonly ticket: string;
  readonly ticket_uuid: string;
  readonly agent: string;
  readonly agent_id: string;
  /** `claimed`, or how it ended. */
  readonly status: "claimed" | ClaimOutcome;
  readonly workspace: string | null;
  readonly generation: number;
  readonly claimed_at: string;
  readonly expires_at: string;
  /** While it is set, the lease stands still: the time that it had left then comes back. */
  readonly frozen_at: string | null;
}

export function viewOfClaim(claim: Claim): ClaimView {
  return {
    id: claim.id,
    ticket: claim.ticket,
    ticket_uuid: claim.ticket,
    agent: claim.holder.name,
    agent_id: claim.holder.name,
    status: claim.outcome ?? "claimed",
    workspace: claim.workspace,
    generation: claim.generation,
    claimed_at: isoOf(claim.claimedAt),
    frozen_at: claim.frozenAt === null ? null : isoOf(claim.frozenAt),
    expires_at: isoOf(claim.expiresAt),
  };
}

export function claimOf(row: Selectable<Tables["claims"]>): Claim {
  return {
    id: row.id,
    projectId: row.project_id,
    ticket: row.ticket,
    generation: row.generation,
    holder: { key: row.holder_key, name: row.holder_name },
    workspace: row.workspace,
    claimedAt: row.claimed_at,
    expiresAt: row.expires_at,
    frozenAt: row.frozen_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
  };
}

/** Whether a claim ended with a result. */
export function isResult(outcome: ClaimOutcome | null): boolean {
  return outcome === "submitted" || outcome === "merged" || outcome === "closed";
}

/** A time in the format of the API. */
export function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
