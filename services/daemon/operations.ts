/** The operations in projects, of all rooms. */
export * from "../checks/operations.ts";
export * from "../code/operations.ts";
export * from "../forum/operations.ts";
export * from "../mirrors/operations.ts";
export * from "../projects/operations.ts";
export * from "../protection/operations.ts";
export * from "../releases/operations.ts";
export * from "../reviews/operations.ts";
export * from "../search/operations.ts";
export * from "../technotes/operations.ts";
export * from "../tickets/operations.ts";
export * from "../uploads/operations.ts";
export * from "../webhooks/operations.ts";
export * from "../wiki/operations.ts";
export * from "../workspaces/operations.ts";
