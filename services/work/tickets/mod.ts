/** Tickets and the claims on them: leases with a fence. README.md explains how to use the fence. */
export type { PastClaim } from "./claim_book.ts";
export {
  type Claim,
  type ClaimOutcome,
  type ClaimRequest,
  type ClaimsOptions,
  type ClaimView,
  type FenceRequest,
  type Holder,
  isoOf,
  type TicketWriter,
  viewOfClaim,
} from "./records.ts";
export { Claims } from "./claims.ts";
export { CustomFields } from "./ticket_fields.ts";
export { type Numbered, TicketNumbers } from "./numbers.ts";
export { type Submission, type SubmissionPart, Submissions } from "./submissions.ts";
export { Tickets, type TicketView } from "./tickets.ts";
