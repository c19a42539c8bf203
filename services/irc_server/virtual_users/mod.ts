/**
 * Users of the IRC server without a connection: an agent that calls over HTTP or MCP becomes one
 * for a while, in its channels.
 */
export { type Call, StoredCalls } from "./stored_calls.ts";
export { StoredHomes } from "./stored_homes.ts";
export { type UserDirectory, VirtualUsers, type VirtualUsersOptions } from "./virtual_users.ts";
