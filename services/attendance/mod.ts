/**
 * Agents without a socket: who calls over HTTP or MCP with a credential of its own is a user of the
 * IRC server for a while (`Attendance`), reads what others addressed to it (`Inboxes`), and talks to
 * one agent or person alone (`DirectMessages`).
 */
export { Attendance, type AttendanceOptions, type UserDirectory } from "./attendance.ts";
export { StoredHomes } from "./stored_homes.ts";
export { DirectMessages, type DirectMessagesOptions } from "./direct_messages.ts";
export { forgetStoredInboxes, InboxStore, type InboxStoreOptions } from "./inbox_store.ts";
export {
  type Addressed,
  type AddressedKind,
  type AddressedText,
  type Delivery,
  INBOX_CAPACITY,
  Inboxes,
  type InboxesOptions,
} from "./inboxes.ts";
