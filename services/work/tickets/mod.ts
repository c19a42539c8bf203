/** Tickets and the claims on them: leases with a fence. README.md explains how to use the fence. */
export type { PastClaim } from "./claim_history.ts";
export type { ClaimRequest, ClaimsOptions, FenceRequest } from "./claim_requests.ts";
export { Claims } from "./claims.ts";
export { CustomFields } from "./custom_fields.ts";
export { type ClaimsOfWork, fenceGivingUp } from "./giving_up.ts";
export {
  type Claim,
  type ClaimOutcome,
  type ClaimView,
  type Holder,
  isoOf,
  viewOfClaim,
} from "./records.ts";
export { type Submission, type SubmissionPart, Submissions } from "./submissions.ts";
export { Tickets, type TicketView, type TicketWriter } from "./tickets.ts";
