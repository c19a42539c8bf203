/**
 * The registry of agents and the IRC accounts of people. `SpeechControls` sets what agents may say, and
 * `SendLimits` enforces it. `Halts` is the stop button.
 */
export type { AgentPage } from "./agent_rows.ts";
export { channelStatusOf } from "./channels.ts";
export {
  type AgentPresence,
  Agents,
  type AgentsOptions,
  type DoingOf,
  type Registration,
} from "./agents.ts";
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
export type { SpeechControls } from "./speech_controls.ts";
export { PRESENCE } from "./presence.ts";
export {
  type AccountChange,
  EmbeddedProvisioning,
  type Provisioned,
  type Provisioning,
  type Sessions,
} from "./provisioning.ts";
export type { Agent, AgentActivity } from "./records.ts";
export { Roster, type RosterEntry } from "./roster.ts";
export { AGENT_TYPES, type AgentType } from "./agent_types.ts";
export type {
  AdoptionRequest,
  AgentRate,
  HaltRequest,
  PersonRequest,
  RegistrationRequest,
  ResumeRequest,
  Rotation,
} from "./schemas.ts";
export { type AgentSlots, type Slot, slotFull, type SlotLimits, Slots } from "./slots.ts";
export { SendLimits } from "./send_limits.ts";
