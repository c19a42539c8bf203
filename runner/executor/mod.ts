/** Runs jobs on this machine, each apart from it. */
export { accountOfJobs } from "./accounts.ts";
export { findBwrap } from "./bwrap.ts";
export { findContainers } from "./containers.ts";
export { type Ended, execute, type ExecuteOptions, Interruption, type Plan } from "./execute.ts";
export { makeFolders, removeFolder, takeOver } from "./folders.ts";
export type { LogLine } from "../../services/work/runs/assignment.ts";
export { Output, type WriteLine } from "./output.ts";
export { findPlain } from "./plain.ts";
export type { Missing, Places, Sandbox } from "./sandbox.ts";
