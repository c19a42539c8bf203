/**
 * Agents without a socket: who calls over HTTP or MCP with a credential of its own is a user of the
 * IRC server for a while (`Attendance`), and reads there what others addressed to it (`Inboxes`).
 */
export { Attendance, type AttendanceOptions, type UserDirectory } from "./attendance.ts";
export {
  type Addressed,
  type AddressedText,
  INBOX_CAPACITY,
  Inboxes,
  type InboxesOptions,
} from "./inboxes.ts";
