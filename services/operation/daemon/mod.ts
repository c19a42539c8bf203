/** The services, built from the configuration, started, and stopped in reverse. */
export { type Daemon, startDaemon } from "./daemon.ts";
export { openEmbedded } from "./embedded.ts";
export {
  type MoveOptions,
  type MoveReport,
  moveToPostgres,
  moveToSqlite,
} from "./move_database.ts";
export { ircChanges } from "./irc.ts";
export { type IrcAddresses, type IrcListeners, NO_IRC_ADDRESSES } from "./irc_listeners.ts";
export { type DaemonOptions, StartError } from "./options.ts";
export { type Services, startServices } from "./services.ts";
export { openStores } from "./stores.ts";
