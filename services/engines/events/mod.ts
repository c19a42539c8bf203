/**
 * The event log: what happened, who did it and what caused it, in append-only rows. `types.ts` types
 * every event. The database writes each row in the transaction of the change that it records. The log
 * never holds message texts, prompts, secrets or channel membership.
 */
export {
  EventLog,
  type EventLogOptions,
  type EventPage,
  type EventQuery,
  gapAfter,
} from "./event_log.ts";
export { type EventFollower, type EventGap, Following } from "./following.ts";
export {
  type Handled,
  LastingFollowing,
  type LastingFollowingOptions,
} from "./lasting_following.ts";
export {
  type EventServices,
  type EventServicesOptions,
  openEvents,
  Retention,
  type RetentionOptions,
} from "./open.ts";
export {
  type EventTypes,
  newEvent,
  type Origin,
  PROJECT_EVENT_NAMES,
  type ProjectEventName,
  type QuestionEvent,
  SYSTEM,
} from "./types.ts";
export type { LastEvent, LoggedEvent } from "./rows.ts";
export { type LogReport, verifyLog, verifyPostgresLog } from "../database/mod.ts";
