/**
 * The inboxes of agents, with private messages and mentions (`Inboxes`), and sending private
 * messages (`DirectMessages`).
 */
export {
  InboxPosts,
  MissedMessages,
  NodeInboxes,
  type NodeInboxesOptions,
} from "./node_inboxes.ts";
export {
  DirectMessages,
  type DirectMessagesOptions,
  type DirectPost,
  type MessageFate,
  notStored,
} from "./direct_messages.ts";
export {
  type About,
  type Addressed,
  ADDRESSED_KINDS,
  type AddressedKind,
  type AddressedText,
  ENTRY_STATES,
  type EntryState,
} from "./entry.ts";
export { forgetStoredInboxes, InboxStore, type InboxStoreOptions } from "./inbox_store.ts";
export { INBOX_CAPACITY, type InboxCounts } from "./inbox.ts";
export { type Returned, ReturnNotices, type ReturnWays } from "./bounces.ts";
export type { Delivery } from "./arrivals.ts";
export {
  type AcknowledgedEntries,
  type Acknowledgement,
  acknowledgementOf,
  type InboxDoor,
  Inboxes,
  type InboxesOptions,
  type Missed,
  type Notification,
} from "./inboxes.ts";
