/** Written by `deno task reference` from the operations of services/; do not change it. */

/** The rows of operations in the table of routes. */
export const OPERATION_ROUTES = {
  "GET /v1/admins": ["admins", "server"],
  "POST /v1/admins": ["admins", "server"],
  "DELETE /v1/admins/{username}": ["admins", "server"],
  "PUT /v1/admins/{username}/password": ["admins", "server"],
  "GET /v1/agents": ["agents", "coordination"],
  "POST /v1/agents/register": ["agents", "server"],
  "DELETE /v1/agents/{nick}": ["agents", "server"],
  "GET /v1/agents/{nick}": ["agents", "coordination"],
  "PATCH /v1/agents/{nick}": ["agents", "server"],
  "POST /v1/agents/{nick}/adopt": ["agents", "server"],
  "POST /v1/agents/{nick}/pause": ["agents", "server"],
  "POST /v1/agents/{nick}/resume": ["agents", "server"],
  "POST /v1/agents/{nick}/revoke": ["agents", "server"],
  "POST /v1/agents/{nick}/rotate": ["agents", "server"],
  "GET /v1/agents/{nick}/slots": ["agents", "coordination"],
  "PUT /v1/agents/{nick}/slots": ["agents", "server"],
  "GET /v1/doctor": ["operator", "server"],
  "POST /v1/doctor": ["operator", "server"],
  "DELETE /v1/halt": ["halt", "server"],
  "GET /v1/halt": ["halt", "coordination"],
  "POST /v1/halt": ["halt", "server"],
  "POST /v1/herald": ["herald", "server"],
  "GET /v1/herald/sources": ["herald", "server"],
  "POST /v1/herald/sources": ["herald", "server"],
  "DELETE /v1/herald/sources/{name}": ["herald", "server"],
  "GET /v1/irc/accounts": ["ircAccounts", "server"],
  "POST /v1/irc/accounts": ["ircAccounts", "server"],
  "DELETE /v1/irc/accounts/{account}": ["ircAccounts", "server"],
  "PUT /v1/irc/accounts/{account}/password": ["ircAccounts", "server"],
  "GET /v1/irc/bans": ["ircServer", "server"],
  "POST /v1/irc/bans": ["ircServer", "server"],
  "DELETE /v1/irc/bans/{ban}": ["ircServer", "server"],
  "GET /v1/irc/clients": ["ircServer", "server"],
  "GET /v1/log": ["operator", "server"],
  "PUT /v1/log": ["operator", "server"],
  "GET /v1/nodes": ["nodes", "server"],
  "DELETE /v1/nodes/{name}": ["nodes", "server"],
  "POST /v1/nodes/{name}/drain": ["nodes", "server"],
  "POST /v1/nodes/{name}/resume": ["nodes", "server"],
  "POST /v1/pauses": ["operator", "server"],
  "DELETE /v1/pauses/{id}": ["operator", "server"],
  "GET /v1/settings": ["policies", "server"],
  "GET /v1/settings/policies": ["policies", "server"],
  "PUT /v1/settings/policies": ["policies", "server"],
  "GET /v1/tokens": ["tokens", "server"],
  "POST /v1/tokens": ["tokens", "server"],
  "POST /v1/tokens/api/rotate": ["tokens", "server"],
  "DELETE /v1/tokens/{id}": ["tokens", "server"],
} as const;

/** Operations that halted agents may call although they are no GET. */
export const OPERATIONS_WHILE_HALTED = [] as const;

/** Operations that are answered while the disk is nearly full. */
export const OPERATIONS_WHILE_FULL = [
  "PUT /v1/admins/{username}/password",
  "POST /v1/agents/{nick}/pause",
  "POST /v1/agents/{nick}/resume",
  "POST /v1/agents/{nick}/revoke",
  "POST /v1/agents/{nick}/rotate",
  "POST /v1/doctor",
  "POST /v1/halt",
  "PUT /v1/irc/accounts/{account}/password",
  "POST /v1/irc/bans",
  "PUT /v1/log",
  "POST /v1/nodes/{name}/drain",
  "POST /v1/nodes/{name}/resume",
  "POST /v1/pauses",
  "PUT /v1/settings/policies",
  "POST /v1/tokens/api/rotate",
] as const;

/** Operations that only the node that leads can answer. */
export const OPERATIONS_OF_LEADER = [
  "POST /v1/herald",
  "GET /v1/herald/sources",
  "POST /v1/herald/sources",
  "DELETE /v1/herald/sources/{name}",
] as const;
