/**
 * Projects, their members' rights, and access to their repositories. README.md explains how
 * tickets, workspaces and the rest plug in.
 */
export { accessOf, accessProject, mayRead, type ProjectAccess, requireCall } from "./access.ts";
export {
  accountKeyOf,
  type ActingCaller,
  type Actor,
  actorKeyOf,
  actorOf,
  hasEnded,
  isSameActor,
} from "./actors.ts";
export { type Answer, type NewAnswer, RepositoryAnswers } from "./answers.ts";
export {
  definesChecks,
  DEFINITION_PATH,
  GITHUB_WORKFLOWS,
  WORKFLOW_FOLDERS,
} from "./check_files.ts";
export { type OpenFile, readPart } from "./downloads.ts";
export { serviceErrorOf } from "./errors/mod.ts";
export { projectEvent, type ProjectEventData, type ProjectEventType } from "./events.ts";
export { type HomeListener, ProjectHomes } from "./homes.ts";
export { isSameProject } from "./received_places.ts";
export type { Intended, IntentionKind, RegisteredKind, SettledWrite, Stamp } from "./intentions.ts";
export { Projects } from "./projects.ts";
export {
  type HeldProject,
  type Member,
  type Project,
  type ProjectView,
  viewOf,
} from "./records.ts";
export { ReadsAnywhere, type ReadsAnywhereOptions, type SharedReads } from "./reads_anywhere.ts";
export type { Reception, ReceptionObserver } from "./reception.ts";
export { type Intend, ProjectRepositories, type RepositoryWrite } from "./repositories.ts";
export {
  appendParts,
  receiveUpload,
  type SentBody,
  type Upload,
  type UploadLimits,
} from "./uploads.ts";
export { RepositoryWatch } from "./watch.ts";
