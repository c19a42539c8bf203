/**
 * Who is calling and what they may do: the API token, the tokens, passwords and web sessions of
 * accounts, and the one namespace of accounts that IRC and the API share.
 *
 * {@link openIdentity} puts the room together. A credential comes in through `Identity`, or, where
 * it is a name and a password, through `Logins`; {@link authorize} is the one place that says who
 * may do what; `Revocations` tells when a credential is good for nothing any more; `Refusals` counts
 * what was refused, wherever it was presented.
 */
export {
  type Account,
  AccountDirectory,
  type AccountKind,
  type AccountListener,
  nameTaken,
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
export { isServiceName } from "./names.ts";
export { OperatorToken } from "./operator_token.ts";
export { isPasswordHash, MAX_PASSWORD_LENGTH, Passwords } from "./passwords.ts";
export { type Access, authorize, speakerName } from "./permissions.ts";
export {
  type Caller,
  type Credential,
  OPERATOR,
  originOf,
  type Principal,
  type Scope,
} from "./principal.ts";
export { type LoginMethod, type Refusal, type RefusalReason, Refusals } from "./refusals.ts";
export { type IdentityRoom, type IdentityRoomOptions, openIdentity } from "./open.ts";
export { accountNameSchema, type TokenRequest, tokenRequestSchema } from "./schemas.ts";
export { readSecretFile, SecretFileError } from "./secret_file.ts";
export { newSecret, sha256 } from "./secrets.ts";
export { type IssuedToken, type Token, Tokens } from "./tokens.ts";
export { isCsrfToken, SESSION_SECONDS, type WebSession, WebSessions } from "./web_sessions.ts";
export { formatNetwork, type Network, parseNetwork, widen } from "./ip_network.ts";
