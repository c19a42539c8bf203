/**
 * The events of projects as streams and webhooks show them: with the API's names and fields
 * (`Notice`), through one reader of the event log (`Feeds`).
 */
export {
  type FeedFollower,
  type FeedQuery,
  Feeds,
  type FeedsOptions,
  type Notice,
  noticeOf,
} from "./feeds.ts";
