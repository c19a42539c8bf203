/**
 * Ordered, bounded logs of messages in memory, and how they are read: by time or id, with waiting.
 * A channel's log and an agent's log of what was addressed to it are of this kind.
 */
export {
  type Follower,
  type FollowerGroup,
  type Gap,
  type Logged,
  type LoggedMessage,
  MessageLog,
  type PastMessage,
  unknownSince,
} from "./message_log.ts";
export { isSought, type MessageSearch, parseSearch } from "./message_search.ts";
export { formatMicroseconds, parseMicroseconds, Stamps } from "./timestamp.ts";
export { checkQuery, type MessageQuery, MessageReaders } from "./readers.ts";
