import { Conflict } from "../../kernel/errors.ts";
import type { TicketRef } from "../../engines/fossil/mod.ts";
import { type Claim, type ClaimOutcome, type Holder, isoOf, isResult } from "./records.ts";

/** Why an ended claim no longer permits a write. */
const REASONS: Record<ClaimOutcome, string> = {
  released: "The claim of this ticket was released: claim it again",
  submitted: "The work on this ticket was submitted by its holder",
  merged: "The work on this ticket was merged",
  closed: "The ticket is closed",
  lapsed: "The claim of this ticket has expired: claim it again",
  broken: "An admin ended the claim of this ticket: claim it again",
  revoked: "The holder of this ticket's claim is revoked",
};

/** Refuses a write because somebody else holds the claim. */
export function claimRefusal(message: string, claim: Claim, next?: readonly string[]): Conflict {
  return new Conflict(message, {
    claimed_by: claim.holder.name,
    claimed_at: isoOf(claim.claimedAt),
    generation: claim.generation,
    expires_at: isoOf(claim.expiresAt),
    ...(next === undefined ? {} : { next }),
  });
}

/** Refuses a write because the claim has ended; nobody holds the ticket now. */
export function refusalOf(claim: Claim, outcome: ClaimOutcome): Conflict {
  return new Conflict(REASONS[outcome], {
    claimed_by: null,
    claimed_at: null,
    generation: claim.generation,
    expires_at: isoOf(claim.expiresAt),
  });
}

/** @throws Conflict if a request names a generation that is not the claim's */
export function requireGeneration(claim: Claim, generation: number | undefined): void {
  if (generation === undefined || generation === claim.generation) return;
  throw claimRefusal(
    `The claim's generation is ${claim.generation}, not ${generation}: ` +
      "another process has claimed the ticket since",
    claim,
  );
}

/**
 * Keeps an agent with an old list from doing a ticket again that was submitted meanwhile.
 *
 * @param previous the newest claim of the ticket, or null
 * @throws Conflict if somebody else has done the ticket and nobody has reopened it
 */
export function requireNotDone(ticket: TicketRef, previous: Claim | null, actor: Holder): void {
  if (previous === null || !isResult(previous.outcome) || ticket.status === "Open") return;
  if (previous.holder.key === actor.key) return;
  throw claimRefusal(
    `"${previous.holder.name}" has done this ticket, which is "${ticket.status}": ` +
      `set it to "Open" to have it done again`,
    previous,
  );
}
