/** The operations in projects, of all rooms. */
export * from "../../work/checks/operations.ts";
export * from "../../work/code/operations.ts";
export * from "../../work/forum/operations.ts";
export * from "../../work/imports/operations.ts";
export * from "../../work/mirrors/operations.ts";
export * from "../../work/projects/operations.ts";
export * from "../../work/protection/operations.ts";
export * from "../../work/releases/operations.ts";
export * from "../../work/reviews/operations.ts";
export * from "../../work/runs/operations.ts";
export * from "../../work/search/operations.ts";
export * from "../../work/technotes/operations.ts";
export * from "../../work/tickets/operations.ts";
export * from "../../work/webhooks/operations.ts";
export * from "../../work/wiki/operations.ts";
export * from "../../work/workspaces/operations.ts";
