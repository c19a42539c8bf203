/**
 * Users of the IRC server without a connection: an agent that calls over HTTP or MCP becomes one
 * for a while, in its channels.
 */
export { type Call, StoredCalls, StoredHomes } from "./stored_presence.ts";
export { type UserDirectory, VirtualUsers, type VirtualUsersOptions } from "./virtual_users.ts";
