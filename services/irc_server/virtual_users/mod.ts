/**
 * Users of the IRC server without a connection: an agent that calls over HTTP or MCP is one for a
 * while, in the channels that it works in.
 */
export { StoredHomes } from "./stored_homes.ts";
export { type UserDirectory, VirtualUsers, type VirtualUsersOptions } from "./virtual_users.ts";
