import { Conflict } from "../errors.ts";
import { type Claim, type ClaimOutcome, isoOf } from "./records.ts";

/** Why a claim that ended does not carry a write any more. */
const REASONS: Record<ClaimOutcome, string> = {
  released: "The claim of this ticket was released: claim it again",
  submitted: "The work on this ticket was submitted by its holder",
  merged: "The work on this ticket was merged",
  lapsed: "The claim of this ticket has run out: claim it again",
  broken: "An admin ended the claim of this ticket: claim it again",
  revoked: "The holder of this ticket's claim is revoked",
};

/** A write that the claim of another refuses. */
export function claimRefusal(message: string, claim: Claim, next?: readonly string[]): Conflict {
  return new Conflict(message, {
    claimed_by: claim.holder.name,
    claimed_at: isoOf(claim.claimedAt),
    generation: claim.generation,
    expires_at: isoOf(claim.expiresAt),
    ...(next === undefined ? {} : { next }),
  });
}

/** A write that a claim which ended does not carry; nobody holds the ticket now. */
export function refusalOf(claim: Claim, outcome: ClaimOutcome): Conflict {
  return new Conflict(REASONS[outcome], {
    claimed_by: null,
    claimed_at: null,
    generation: claim.generation,
    expires_at: isoOf(claim.expiresAt),
  });
}
