/** The operations on the server, by room. The first request for one of them loads its room. */
export const SERVER_OPERATIONS = {
  admins: () => import("../admins/operations.ts"),
  agents: () => import("../agents/operations.ts"),
  halt: () => import("../agents/halt_operations.ts"),
  herald: () => import("../bots/operations.ts"),
  inboxes: () => import("../inboxes/operations.ts"),
  ircAccounts: () => import("../agents/irc_account_operations.ts"),
  ircServer: () => import("../irc_server/operations.ts"),
  ledger: () => import("../ledger/operations.ts"),
  llm: () => import("../llm/operations.ts"),
  needs: () => import("../needs/operations.ts"),
  nodes: () => import("../nodes/operations.ts"),
  operator: () => import("../operations/operations.ts"),
  policies: () => import("../policies/operations.ts"),
  projects: () => import("../projects/admin_operations.ts"),
  questions: () => import("../questions/operations.ts"),
  tokens: () => import("../identity/operations.ts"),
};
