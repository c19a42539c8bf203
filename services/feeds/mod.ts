/**
 * The events of projects as streams and webhooks show them: names and fields of the repository API
 * (`Notice`), and one reader of the event log for everybody who reads along (`Feeds`).
 */
export { type FeedFollower, type FeedQuery, Feeds, type FeedsOptions } from "./feeds.ts";
export { FeedReading } from "./feed_reading.ts";
export { type Notice, noticeOf } from "./notices.ts";
