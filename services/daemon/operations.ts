/** The operations in projects, of all rooms. */
export * from "../code/operations.ts";
export * from "../tickets/operations.ts";
export * from "../wiki/operations.ts";
