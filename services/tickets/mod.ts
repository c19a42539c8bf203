/** Tickets and the claims on them: leases with a fence. */
export { type ClaimRequest, Claims, type ClaimsOptions, type FenceRequest } from "./claims.ts";
export {
  type Claim,
  type ClaimOutcome,
  type ClaimView,
  type Holder,
  viewOfClaim,
} from "./records.ts";
