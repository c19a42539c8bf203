/**
 * Ordered, bounded logs of messages in memory, and how they are read: by time or id, with waiting.
 * A channel's log and an agent's log of what was addressed to it are of this kind.
 */
export {
  type Follower,
  type FollowerGroup,
  formatMicroseconds,
  type Gap,
  type Logged,
  type LoggedMessage,
  MessageLog,
  parseMicroseconds,
  type PastMessage,
  Stamps,
  unknownSince,
} from "./message_log.ts";
export {
  checkQuery,
  isSought,
  ListTexts,
  type MessageQuery,
  MessageReaders,
  type MessageSearch,
  parseSearch,
} from "./readers.ts";
