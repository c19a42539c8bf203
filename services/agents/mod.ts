/**
 * The registry of agents and the IRC accounts of people. `SpeechControls` sets what agents may say, and
 * `SendLimits` enforces it.
 */
export type { AgentPage } from "./agent_rows.ts";
export { channelStatusOf } from "./channels.ts";
export { Agents, type AgentsOptions, type Registration } from "./agents.ts";
export {
  type IrcAccount,
  IrcAccounts,
  type IrcAccountsOptions,
  type NewIrcAccount,
} from "./irc_accounts.ts";
export type { SpeechControls } from "./speech_controls.ts";
export { PRESENCE } from "./presence.ts";
export {
  type AccountChange,
  EmbeddedProvisioning,
  type Provisioned,
  type Provisioning,
  type Sessions,
} from "./provisioning.ts";
export type { Agent } from "./records.ts";
export { Roster, type RosterEntry } from "./roster.ts";
export {
  type AdoptionRequest,
  adoptionSchema,
  AGENT_TYPES,
  agentChangeSchema,
  type AgentType,
  pauseSchema,
  type PersonRequest,
  personSchema,
  rateLimitSchema,
  type RegistrationRequest,
  registrationSchema,
  type Rotation,
  rotationSchema,
} from "./schemas.ts";
export { SendLimits } from "./send_limits.ts";
