/**
 * The event log: what happened, who did it and what caused it, as rows that only ever are appended.
 * `types.ts` types every event; the rows themselves are written by the database, in the transaction
 * of the change that they tell of. Texts of messages, prompts and secrets are never in it, nor who
 * is in which channel, which a restart forgets.
 */
export { EventLog, type EventLogOptions, type EventPage, type EventQuery } from "./event_log.ts";
export { type EventFollower, Following } from "./following.ts";
export { Retention, type RetentionOptions } from "./retention.ts";
export { type EventRoom, type EventRoomOptions, openEvents } from "./open.ts";
export type { LoggedEvent } from "./rows.ts";
export { type EventTypes, newEvent, type Origin, SYSTEM } from "./types.ts";
export { type LogReport, verifyLog } from "../database/mod.ts";
