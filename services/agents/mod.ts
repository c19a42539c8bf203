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
export { channelName } from "./channels.ts";
export { type IrcAccount, IrcAccounts, type IrcAccountsOptions } from "./irc_accounts.ts";
export {
  type AdoptionRequest,
  adoptionSchema,
  type AgentType,
  type PersonRequest,
  personSchema,
  type RegistrationRequest,
  registrationSchema,
} from "./schemas.ts";
