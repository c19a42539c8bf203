/** Runs of checks on runners. README.md explains them. */
export { nextByNeeds, type NextOf } from "./advancing.ts";
export { type Artifact, JobArtifacts } from "./artifacts.ts";
export { type Asked, Dispatcher, type LeasedJob } from "./dispatcher.ts";
export { type ForgeTask, ForgeTasks, type TaskProgress, type TaskRow } from "./forge_tasks.ts";
export { JobCaches } from "./caches.ts";
export { RunFigures } from "./figures.ts";
export {
  JobLogs,
  type LogBatch,
  type LogKey,
  type NumberedLine,
  STREAMED_BYTES,
} from "./job_logs.ts";
export {
  AS_CHANGED,
  CheckDefinitions,
  type JobSource,
  type Plan,
  type PlannedJob,
  type Trigger,
} from "./planning.ts";
export { ARRIVING, Leftovers } from "./leftovers.ts";
export type { Job, JobSpec, JobStep, Run, RunNotice, WorkflowSpec } from "./records.ts";
export { Runs } from "./runs.ts";
export { CheckSecrets } from "./secrets.ts";
export { Triggers } from "./triggers.ts";
export { type ArtifactFile, type PartRange, WorkflowArtifacts } from "./workflow_artifacts.ts";
export { needsOfJob, nextOfWorkflows } from "./workflow_advancing.ts";
export { WorkflowSource } from "./workflow_source.ts";
