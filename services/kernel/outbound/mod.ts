/**
 * Requests over HTTP to servers that others name, such as receivers of webhooks and upstream
 * repositories: to public addresses alone, unless the operator allows others.
 */
export { type AddressRules, checkedAddresses, ClosedHost, isPublicAddress } from "./addresses.ts";
export type { Resolve } from "./addresses.ts";
export {
  type OutboundAnswer,
  OutboundClient,
  OutboundFailure,
  type OutboundRequest,
} from "./outbound_client.ts";
