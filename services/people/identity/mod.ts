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
  type SessionName,
} from "./accounts.ts";
export {
  type AgentSession,
  type AgentSessionListener,
  AgentSessions,
  MOST_SESSIONS,
} from "./agent_sessions.ts";
export {
  AttemptQuota,
  type LoginMethod,
  placeOf,
  type Refusal,
  type RefusalReason,
  Refusals,
} from "./attempts.ts";
export { DeferredTimes } from "./deferred_times.ts";
export { type Ended, type EndedListener, type Ending, Revocations } from "./revocations.ts";
export { Identity, type TokenSource } from "./identity.ts";
export {
  type KeyFile,
  newSecret,
  openKeyFile,
  readKeyFile,
  readSecretFile,
  sameDigest,
  seal,
  type SealingKey,
  type SealingPurpose,
  SecretFileError,
  sha256,
  type TokenKey,
  unseal,
} from "./secrets.ts";
export { acceptedAccount, type LoginAttempt, type LoginOutcome, Logins } from "./logins.ts";
export { ScramVerifiers } from "./scram.ts";
export { addressesEverybody, isCommonName, isServiceName, reservedNames } from "./names.ts";
export { OperatorToken } from "./operator_token.ts";
export {
  type IdentityServices,
  type IdentityServicesOptions,
  openIdentity,
  readPagesHost,
} from "./open.ts";
export {
  isPasswordHash,
  MAX_PASSWORD_LENGTH,
  PASSWORD_COSTS,
  type PasswordCosts,
  Passwords,
} from "./passwords.ts";
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
  accountNameOf,
  type Caller,
  callerOnIrc,
  type Credential,
  GUEST,
  isNameOf,
  isOverseer,
  OPERATOR,
  originOf,
  type Principal,
  quotaFor,
  type Scope,
  SCOPES,
  type SessionKey,
  speakerId,
} from "./principal.ts";
export type { TokenRequest } from "./schemas.ts";
export {
  type IssuedToken,
  MOST_OWN_TOKENS,
  type Token,
  type TokenFilter,
  Tokens,
} from "./tokens.ts";
export {
  isCsrfToken,
  type ListedSession,
  SESSION_SECONDS,
  type WebSession,
  WebSessions,
} from "./web_sessions.ts";
export { type Gates, requireServerCall, type ServerAccess } from "./server_access.ts";
export {
  CallerQuota,
  type Holder,
  holderOf,
  HourlyQuota,
  type QuotaFigures,
  shareOfOne,
} from "./quotas.ts";
