/** OAuth 2.1 for clients that know nothing else: what people let programs do in their name. */
export {
  mayRedirect,
  type OauthClient,
  OauthClients,
  type OauthClientsOptions,
} from "./clients.ts";
export {
  GRANTED_SCOPES,
  type GrantRequest,
  Grants,
  type GrantsOptions,
  type IssuedTokens,
  RefusedGrant,
} from "./grants.ts";
