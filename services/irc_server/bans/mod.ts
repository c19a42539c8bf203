/**
 * Who is kept off the IRC server (K-lines): masks, addresses, networks and accounts, with a reason
 * and where wanted an end. Kept in the app database; the IRC server asks, and its operators, the API
 * and the command line change them.
 */
export { IrcBans, type IrcBansOptions } from "./irc_bans.ts";
export { type BanRecord, type BanRequest, banRequestSchema } from "./schemas.ts";
