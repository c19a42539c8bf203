/**
 * The events of projects as streams and webhooks show them: with the API's names and fields
 * (`Notice`), through one reader of the event log (`Feeds`).
 */
export { type FeedQuery, Feeds, type FeedsOptions } from "./feeds.ts";
export type { FeedFollower } from "./feed_reading.ts";
export { type Notice, noticeOf } from "./notices.ts";
