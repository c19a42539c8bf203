/**
 * The pages that only the node that leads can answer: those with the inbox of an agent, those from
 * which messages go to agents, and those of herald and of webhooks' deliveries.
 */
export const LEADER_PAGES = [
  "GET /agents/{nick}",
  "POST /agents/{nick}",
  "GET /messages/{nick}",
  "POST /messages/{nick}",
  "POST /channels/{name}",
  "GET /settings/webhooks",
  "POST /settings/webhooks",
  "GET /settings/webhooks/{id}",
  "POST /settings/webhooks/{id}",
] as const;
