/** The operations on the server, by room. The first request for one of them loads its room. */
export const SERVER_OPERATIONS = {
  agents: () => import("../agents/operations.ts"),
  halt: () => import("../agents/halt_operations.ts"),
};
