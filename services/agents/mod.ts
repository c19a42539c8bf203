/**
 * The registry of agents and the IRC accounts of people. `SpeechControls` sets what agents may say, and
 * `SendLimits` enforces it. `Halts` is the stop button.
 */
export type { AgentPage } from "./agent_rows.ts";
export { channelStatusOf } from "./channels.ts";
export { type AgentPresence, Agents, type AgentsOptions, type Registration } from "./agents.ts";
export {
  type HaltChange,
  type HaltListener,
  Halts,
  type HaltsOptions,
  type HaltState,
} from "./halts.ts";
export {
  type IrcAccount,
  IrcAccounts,
  type IrcAccountsOptions,
  type NewIrcAccount,
} from "./irc_accounts.ts";
export { IRC_CLIENTS, type Login, loginLines } from "./login_lines.ts";
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
  type AgentRate,
  type AgentType,
  type HaltRequest,
  haltSchema,
  pauseSchema,
  type PersonRequest,
  personSchema,
  rateLimitSchema,
  type RegistrationRequest,
  registrationSchema,
  type ResumeRequest,
  resumeSchema,
  type Rotation,
  rotationSchema,
} from "./schemas.ts";
export {
  type AgentSlots,
  type Slot,
  slotFull,
  type SlotLimits,
  Slots,
  slotsSchema,
} from "./slots.ts";
export { SendLimits } from "./send_limits.ts";
