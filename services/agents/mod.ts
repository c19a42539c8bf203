/**
 * The registry of agents and the IRC accounts of people, and what the IRC server asks of both. What
 * agents may say is changed by `Holds` and kept by `Speech`.
 */
export { Agents, type AgentsOptions, type Registration } from "./agents.ts";
export {
  AccountAuthority,
  type AccountAuthorityOptions,
  channelStatusOf,
  type IrcOperator,
} from "./authority.ts";
export {
  type IrcAccount,
  IrcAccounts,
  type IrcAccountsOptions,
  type NewIrcAccount,
} from "./irc_accounts.ts";
export type { Holds } from "./holds.ts";
export { PRESENCE } from "./presence.ts";
export {
  EmbeddedProvisioning,
  type Provisioned,
  type ProvisionedChange,
  type Provisioning,
  type Sessions,
  type WriteChange,
} from "./provisioning.ts";
export type { Agent } from "./records.ts";
export type { Roster, RosterEntry } from "./roster.ts";
export {
  type AdoptionRequest,
  adoptionSchema,
  AGENT_TYPES,
  agentChangeSchema,
  type AgentType,
  pauseSchema,
  personPasswordSchema,
  type PersonRequest,
  personSchema,
  rateLimitSchema,
  type RegistrationRequest,
  registrationSchema,
  type Rotation,
  rotationSchema,
} from "./schemas.ts";
export { SelfRegistration, type SelfRegistrationOptions } from "./self_registration.ts";
export type { Speech } from "./speech.ts";
