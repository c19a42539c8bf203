/**
 * The inboxes of agents, with private messages and mentions (`Inboxes`), and sending private
 * messages (`DirectMessages`).
 */
export { DirectMessages, type DirectMessagesOptions } from "./direct_messages.ts";
export { forgetStoredInboxes, InboxStore, type InboxStoreOptions } from "./inbox_store.ts";
export {
  type About,
  type Addressed,
  ADDRESSED_KINDS,
  type AddressedKind,
  type AddressedText,
  INBOX_CAPACITY,
} from "./inbox.ts";
export { type Delivery, Inboxes, type InboxesOptions, type Notification } from "./inboxes.ts";
