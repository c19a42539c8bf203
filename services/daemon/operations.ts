/** The operations in projects, of all rooms. */
export * from "../tickets/operations.ts";
export * from "../wiki/operations.ts";
export * from "../workspaces/operations.ts";
