/** The operations in projects, of all rooms. */
export * from "../releases/operations.ts";
export * from "../tickets/operations.ts";
export * from "../uploads/operations.ts";
export * from "../wiki/operations.ts";
export * from "../workspaces/operations.ts";
