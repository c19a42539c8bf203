/**
 * What others said to one agent: messages for it alone, and mentions in its channels (`Inboxes`); and
 * how an agent or the operator says something to one user alone (`DirectMessages`).
 */
export { DirectMessages, type DirectMessagesOptions } from "./direct_messages.ts";
export { forgetStoredInboxes, InboxStore, type InboxStoreOptions } from "./inbox_store.ts";
export { type Addressed, type AddressedKind, type AddressedText, INBOX_CAPACITY } from "./inbox.ts";
export { type Delivery, Inboxes, type InboxesOptions } from "./inboxes.ts";
