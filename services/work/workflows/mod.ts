/** Workflows of Forgejo, Gitea and GitHub, expanded to the jobs of runs. */
export {
  type ConcurrencyGroup,
  expand,
  type Expansion,
  type RunContexts,
  type WorkflowJob,
} from "./expansion.ts";
export type { Contexts, Value } from "./expressions.ts";
export {
  type JobProgress,
  type Need,
  needsOf,
  type Next,
  nextOf,
  type Result,
  type Skipped,
} from "./next.ts";
export { heardAs, inputsOf, type WorkflowEvent } from "./triggers.ts";
export { type Notice, noticesOf, readWorkflow, schedulesOf, type Workflow } from "./workflow.ts";
