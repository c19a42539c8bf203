/**
 * Bans from the IRC server (K-lines): masks, addresses, networks and accounts, with a reason and an
 * optional end. The app database keeps them. The IRC server consults them; IRC operators, the API and
 * the command line change them.
 */
export { IrcBans, type IrcBansOptions } from "./irc_bans.ts";
export type { BanRecord, BanRequest } from "./schemas.ts";
