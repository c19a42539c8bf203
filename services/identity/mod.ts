/**
 * Authentication and authorization: the API token, the tokens, passwords and web sessions of accounts,
 * and the one namespace of accounts that IRC and the API share.
 *
 * {@link openIdentity} builds the parts. `Identity` checks credentials, and `Logins` checks names and
 * passwords. {@link authorize} alone decides what a principal may do. `Revocations` announces ended
 * credentials. `Refusals` counts refused credentials for every protocol.
 */
export {
  type Account,
  AccountDirectory,
  type AccountKind,
  type AccountListener,
  nameTaken,
  passwordJustChanged,
  type Secret,
} from "./accounts.ts";
export { placeOf } from "./address.ts";
export { AttemptLimit } from "./attempt_limit.ts";
export { DeferredTimes } from "./deferred_times.ts";
export { type Ended, type EndedListener, type Ending, Revocations } from "./revocations.ts";
export { Identity } from "./identity.ts";
export { type KeyFile, openKeyFile, readKeyFile } from "./key_file.ts";
export { acceptedAccount, type LoginAttempt, type LoginOutcome, Logins } from "./logins.ts";
export { ScramVerifiers } from "./scram.ts";
export { addressesEverybody, isCommonName, isServiceName, reservedNames } from "./names.ts";
export { OperatorToken } from "./operator_token.ts";
export { readPagesHost } from "./pages_host.ts";
export { PASSWORD_COSTS, type PasswordCosts } from "./password_costs.ts";
export { isPasswordHash, MAX_PASSWORD_LENGTH, Passwords } from "./passwords.ts";
export {
  type Action,
  authorize,
  mayDo,
  type ProjectRole,
  type Resource,
  speakerName,
  type Visibility,
} from "./permissions.ts";
export {
  type Caller,
  callerOnIrc,
  type Credential,
  GUEST,
  OPERATOR,
  originOf,
  type Principal,
  type Scope,
  SCOPES,
} from "./principal.ts";
export { isOverseer, quotaFor } from "./reserve.ts";
export { type LoginMethod, type Refusal, type RefusalReason, Refusals } from "./refusals.ts";
export { type IdentityServices, type IdentityServicesOptions, openIdentity } from "./open.ts";
export type { TokenRequest } from "./schemas.ts";
export { seal, type SealingKey, type SealingPurpose, unseal } from "./sealing.ts";
export { readSecretFile, SecretFileError } from "./secret_file.ts";
export { newSecret, sameDigest, sha256 } from "./secrets.ts";
export type { TokenKey } from "./token_key.ts";
export type { Token, TokenFilter } from "./token_lists.ts";
export { type IssuedToken, MOST_OWN_TOKENS, Tokens } from "./tokens.ts";
export {
  isCsrfToken,
  type ListedSession,
  SESSION_SECONDS,
  type WebSession,
  WebSessions,
} from "./web_sessions.ts";
export { formatNetwork, type Network, parseNetwork, widen } from "./ip_network.ts";
