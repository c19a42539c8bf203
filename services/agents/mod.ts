/**
 * The registry of agents and the IRC accounts of people, and what the IRC server asks of both.
 */
export {
  type Agent,
  Agents,
  type AgentsOptions,
  type Registration,
  type Sessions,
} from "./agents.ts";
export { AccountAuthority, type AccountAuthorityOptions, type IrcOperator } from "./authority.ts";
export {
  type IrcAccount,
  IrcAccounts,
  type IrcAccountsOptions,
  type NewIrcAccount,
} from "./irc_accounts.ts";
export {
  type AdoptionRequest,
  adoptionSchema,
  AGENT_TYPES,
  type AgentType,
  type PersonRequest,
  personSchema,
  type RegistrationRequest,
  registrationSchema,
} from "./schemas.ts";
