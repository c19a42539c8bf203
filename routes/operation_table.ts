/** Written by `deno task reference` from the operations of services/; do not change it. */

/** The rows of operations in the table of routes. */
export const OPERATION_ROUTES = {
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
  "DELETE /v1/halt": ["halt", "server"],
  "GET /v1/halt": ["halt", "coordination"],
  "POST /v1/halt": ["halt", "server"],
} as const;

/** Operations that halted agents may call although they are no GET. */
export const OPERATIONS_WHILE_HALTED = [] as const;

/** Operations that are answered while the disk is nearly full. */
export const OPERATIONS_WHILE_FULL = [
  "POST /v1/agents/{nick}/pause",
  "POST /v1/agents/{nick}/resume",
  "POST /v1/agents/{nick}/revoke",
  "POST /v1/agents/{nick}/rotate",
  "POST /v1/halt",
] as const;

/** Operations that only the node that leads can answer. */
export const OPERATIONS_OF_LEADER = [] as const;
