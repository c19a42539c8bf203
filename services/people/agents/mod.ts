/**
 * The registry of agents and the IRC accounts of people. `SpeechControls` sets what agents may say, and
 * `SendLimits` enforces it. `Halts` is the stop button.
 */
export {
  type Agent,
  AGENT_TYPES,
  type AgentActivity,
  type AgentPage,
  type AgentRate,
  type AgentType,
  channelStatusOf,
} from "./records.ts";
export {
  type AgentPresence,
  Agents,
  type AgentsOptions,
  type DoingOf,
  PRESENCE,
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
export { SendLimits, type SpeechControls } from "./speech.ts";
export {
  type AccountChange,
  EmbeddedProvisioning,
  type Provisioned,
  type Provisioning,
  type Sessions,
} from "./provisioning.ts";
export {
  type AgentSlots,
  Roster,
  type RosterEntry,
  type Slot,
  slotFull,
  type SlotLimits,
  Slots,
} from "./roster.ts";
export type {
  AdoptionRequest,
  HaltRequest,
  PersonRequest,
  RegistrationRequest,
  ResumeRequest,
  Rotation,
} from "./schemas.ts";
